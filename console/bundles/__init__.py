"""Everything an installation needs, in one folder that can be carried to hosts without internet."""
