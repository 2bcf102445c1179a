"""What a log says about why something failed: text in, findings out."""
