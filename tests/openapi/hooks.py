"""What schemathesis cannot know of this service: which addresses its tests may use, what exists."""
from urllib.parse import quote

import schemathesis

ALLOWED_URL = "http://127.0.0.1:9/"  # loopback is in the operator's allow-list of the test; nothing listens there
LINE_MAX = 6000  # characters of one parameter, encoded


def as_allowed(value):
    """Valid values that only the service can tell from refused ones: a name would have to be resolved, a tool must exist."""
    if isinstance(value, list):
        return [as_allowed(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    return {key: REPLACED[key](entry) if key in REPLACED else as_allowed(entry) for key, entry in value.items()}


def url(value):
    return ALLOWED_URL if isinstance(value, str) and value.startswith(("http://", "https://")) else value


def language(value):
    return "en" if isinstance(value, str) else value


def tool_ids(value):
    return [] if isinstance(value, list) and all(isinstance(entry, str) for entry in value) else value


def of_catalog(value):
    return None if isinstance(value, str) else value


def secret(value):
    return "a-secret-of-the-test" if isinstance(value, str) and value.startswith("****") else value


REPLACED = {"authToken": secret, "secret": secret,
            "url": url, "webhookUrl": url, "language": language, "toolIds": tool_ids,
            "provider": of_catalog, "model": of_catalog}


@schemathesis.hook
def filter_query(context, query):
    """What makes a request's first line longer than any HTTP server takes is refused there (414), which the document does not
    tell; and beside ids no cursor is looked at, good or bad."""
    query = query or {}
    fits = all(len(quote(str(value))) < LINE_MAX for value in query.values())
    return fits and not ("ids" in query and "before" in query)


@schemathesis.hook
def before_call(context, case, kwargs):
    case.body = as_allowed(case.body)
