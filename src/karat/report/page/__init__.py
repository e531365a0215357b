"""The page: JSON documents that the service sends and a report file carries inside."""
