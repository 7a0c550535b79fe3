"""From a rough request to answered questions and a specification. Pure."""
