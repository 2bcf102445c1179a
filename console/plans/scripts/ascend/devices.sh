# uses: engine_words
lacking=$(lacking_files)
fail "A container for this chip needs files of the host that are not there: $lacking
They come with the driver. If the driver works, it was installed to another place than usual."
