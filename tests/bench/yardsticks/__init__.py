"""What a user would write instead of the tool, made from the protocol's text alone."""
