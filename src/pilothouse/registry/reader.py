"""LIST of the generic store: which read the options ask for, which objects they accept, where the next page starts
(API concepts, "Resource versions" and "Retrieving large results sets in chunks").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from pilothouse.kit.record import record
from pilothouse.machinery.errors import APIError, bad_request, gone
from pilothouse.machinery.goquote import quote
from pilothouse.machinery.selectors import FieldSelector, LabelSelector, parse_field_selector, parse_label_selector
from pilothouse.registry import continuation
from pilothouse.registry.request import ListOptions
from pilothouse.registry.store import GenericStore
from pilothouse.registry.translate import translate
from pilothouse.storage import errors as stored_errors
from pilothouse.storage.api import ListRequest, Read, StoredObject

Accept = Callable[[StoredObject], bool]
_SELECTOR_WORK: Final = 8  # a character of a selector is as much work as so many bytes of JSON


@record
class ListPage:
    """`continue_token` "" at the end; `remaining` None where it is not known; `looked`: at so many objects."""

    items: Sequence[StoredObject]
    revision: int
    continue_token: str = ""
    remaining: int | None = None
    looked: int = 0


@record
class Selection:
    """What a list or watch is about: a folder or one key, and a predicate (None: everything)."""

    prefix: str
    accept: Accept | None
    key: str = ""  # the one object that metadata.name selects
    text: str = ""  # canonical, to share work between watchers of the same selection
    same: str = ""  # the same for lists; fields are left out, as the versions of a kind may know others


def select(store: GenericStore, namespace: str, options: ListOptions) -> Selection:
    """Raises BadRequest for selectors that do not parse and field labels that the kind does not have."""
    resource = store.resource
    labels = parse_label_selector(options.label_selector) if options.label_selector else None
    fields = parse_field_selector(options.field_selector) if options.field_selector else None
    name = options.name
    if fields is not None:
        _check_field_labels(store, fields)
        name = name or fields.exact("metadata.name") or ""
    one = bool(name) and (bool(namespace) or not resource.namespaced)
    prefix = resource.folder(namespace)
    key = resource.key(namespace, name) if one else ""
    accept = _predicate(store, labels, fields, name)
    text = f"{options.label_selector}\n{options.field_selector}\n{options.name}" if accept is not None else ""
    return Selection(prefix, accept, key, text, "" if options.field_selector else text)


async def selected(store: GenericStore, namespace: str, options: ListOptions) -> Selection:
    """`select`; long selectors are read beside the loop."""
    size = len(options.label_selector) + len(options.field_selector)
    return await store.services.aside.run(_SELECTOR_WORK * size, select, store, namespace, options)


def _check_field_labels(store: GenericStore, fields: FieldSelector) -> None:
    known = store.resource.field_labels
    for label in fields.labels():
        if label not in known.paths:
            raise bad_request(known.refused.replace('"{label}"', quote(label)).replace("{label}", label))


def _predicate(
    store: GenericStore, labels: LabelSelector | None, fields: FieldSelector | None, name: str
) -> Accept | None:
    index = store.codec.index
    tests: list[Accept] = []
    if name:
        end = f"/{name}"
        tests.append(lambda stored: stored.key.endswith(end))
    if labels is not None and not labels.empty:
        match_labels = labels.matches
        tests.append(lambda stored: match_labels(index(stored).labels))
    if fields is not None and not fields.empty:
        match_fields = fields.matches
        tests.append(lambda stored: match_fields(index(stored).fields))
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    return lambda stored: all(test(stored) for test in tests)


async def list_objects(store: GenericStore, namespace: str, options: ListOptions) -> ListPage:
    """One page. Raises BadRequest, Expired (with a token to go on with), the 504 of a too large revision."""
    selection = await selected(store, namespace, options)
    request = _request(store, selection, options)
    try:
        page = await store.storage.list(request)
    except stored_errors.Compacted as error:
        raise _expired(selection, options) from error
    except stored_errors.StorageError as error:
        raise translate(error, store.resource) from error
    token = continuation.encode(selection.prefix, page.next_key, page.revision) if page.next_key else ""
    remaining = page.remaining if selection.accept is None and token else None
    looked = page.looked if selection.accept is not None else len(page.items)
    return ListPage(page.items, page.revision, token, remaining, looked)


def _request(store: GenericStore, selection: Selection, options: ListOptions) -> ListRequest:
    limit = max(options.limit, 0)
    version = options.resource_version
    if options.continue_token:
        key, revision = continuation.decode(options.continue_token, selection.prefix)
        if version:
            raise bad_request("specifying resource version is not allowed when using continue")
        read, revision = (Read.EXACT, revision) if revision > 0 else (Read.LATEST, 0)
        return ListRequest(selection.prefix, read, revision, key, limit, selection.accept)
    if version is None:
        return ListRequest(selection.prefix, limit=limit, accept=selection.accept, same=selection.same)
    if version == 0:
        return ListRequest(selection.prefix, Read.ANY, accept=selection.accept, same=selection.same)
    exact = options.match == "Exact" or (limit > 0 and not options.match)
    return ListRequest(selection.prefix, Read.EXACT if exact else Read.AT_LEAST, version, None, limit, selection.accept)


def _expired(selection: Selection, options: ListOptions) -> APIError:
    """410: a paged list gets a token with which it may go on at the newest revision, inconsistently."""
    if not options.continue_token:
        return gone("The resourceVersion for the provided list is too old.")
    key, _ = continuation.decode(options.continue_token, selection.prefix)
    fresh = continuation.encode(selection.prefix, key, -1)
    message = (
        "The provided continue parameter is too old to display a consistent list result. You can start a new list "
        "without the continue parameter, or use the continue token in this response to retrieve the remainder of the "
        "results. Continuing with the provided token results in an inconsistent list - objects that were created, "
        "modified, or deleted between the time the first "
        "chunk was returned and now may show up in the list."
    )
    return APIError(410, "Expired", message, metadata={"continue": fresh})
