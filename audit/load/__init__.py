"""Loading: read attempts from files, check them and insert them in one transaction."""
