"""The HTTP interface: routes, schemas, middleware and pages."""
