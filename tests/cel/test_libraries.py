"""The libraries, beyond what is recorded (test_recorded.py)."""

from __future__ import annotations

import pytest

from cel.trying import error, value
from pilothouse.cel import types
from pilothouse.cel.environment import Environment
from pilothouse.cel.library.authorizing import Authorizer, Decision, Question, ResourceCheck


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'Hällo'.charAt(1)", "ä"), ("'abcabc'.indexOf('c', 3)", 5), ("'abcabc'.lastIndexOf('b', 3)", 1),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]), ("'abc'.split('')", ["a", "b", "c"]), ("' a '.trim()", "a"),
        ("['a', 'b'].join('-')", "a-b"), ("'aaa'.replace('a', 'b', 2)", "bba"), ("strings.quote('a\"b')", '"a\\"b"'),
        ("'%s %d %x %b %o %.2f'.format(['a', 10, 255, 5, 8, 1.234])", "a 10 ff 101 10 1.23"),
        ("'%s'.format([{'b': dyn([dyn(1), 'x']), 'a': null}])", '{"a":null, "b":[1, "x"]}'),
        ("'abc 123'.find('[0-9]+')", "123"), ("'1 2 3'.findAll('[0-9]', 2)", ["1", "2"]),
        ("url('https://u@h:8443/a%20b?q=1#f').getHost()", "h:8443"), ("isURL('nope')", False),
        ("url('http://[::1]:80/').getHostname()", "::1"),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", True), ("quantity('1').add(2).asInteger()", 3),
        ("quantity('1.5').isInteger()", False), ("quantity('1.5').add(quantity('0.5')).isInteger()", False),
        ("quantity('1.0').add(1).asInteger()", 2), ("isQuantity('5x')", False), ("sign(quantity('-1m'))", -1),
        ("ip('fe80::1').isLinkLocalUnicast()", True), ("isIP('1.2.3')", False), ("ip('::1').family()", 6),
        ("cidr('10.0.0.0/8').containsIP('10.1.1.1')", True),
        ("cidr('10.0.0.1/8').masked() == cidr('10.0.0.0/8')", True),
        ("cidr('10.0.0.0/8').containsCIDR('10.0.0.0/7')", False), ("isCIDR('10.0.0.0/33')", False),
        ("semver('1.2.3-rc.1').isLessThan(semver('1.2.3'))", True), ("semver('v1', true).minor()", 0),
        ("isSemver('1.02.3')", False), ("format.dns1123Label().validate('a-b').hasValue()", False),
        ("format.named('uuid').value().validate('x').value()", ["does not match the UUID format"]),
        ("[3, 1, 2].sort()", [1, 2, 3]), ("[1, 1, 2].distinct()", [1, 2]), ("[1, 2, 3].slice(1, 3)", [2, 3]),
        ("[[1], [2]].flatten()", [1, 2]), ("lists.range(3)", [0, 1, 2]), ("[1, 2].reverse()", [2, 1]),
        ("[1, 2].first().value() + [1, 2].last().value()", 3), ("[1.5, 2.0].sum()", 3.5),
        ("any.list.filter(x, type(x) == int).size()", 1), ("words.sortBy(w, w)", ["a", "b"]),
        ("sets.intersects([1, 2], [2, 3]) && !sets.contains([1], [2])", True),
        ("timestamp('2024-02-29T13:14:15.678Z').getMilliseconds()", 678),
        ("timestamp('2024-02-29T23:30:00Z').getDayOfMonth('Europe/Paris')", 0),
        ("string(timestamp('2024-02-29T23:30:00+02:00'))", "2024-02-29T21:30:00Z"),
        ("string(duration('1h1.5s'))", "3601.5s"), ("duration('-90s').getMinutes()", -1),
        ("bool('true') && double('1e3') == 1000.0 && string(b'hi') == 'hi'", True),
    ],
)  # fmt: skip
def test_functions(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("quantity(s)", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"),
        ("url(s)", 'URL parse error during conversion from string: parse "text": invalid URI for request'),
        (
            "ip(s)",
            'IP Address "text" parse error during conversion from string: ParseAddr("text"): unable to parse IP',
        ),
        ("s.matches(s + '(')", "error parsing regexp: missing closing ): `text(`"),
        ("quantity('1.5').asInteger()", "cannot convert value to integer"),
        ("l.slice(2, 9)", "cannot slice(2, 9), list is length 3"),
        ("map.transformMapEntry(k, v, {'same': k})", "insert failed: key same already exists"),
    ],
)
def test_functions_that_fail(expression: str, expected: str) -> None:
    assert error(expression) == expected


def test_hostile_patterns_take_no_longer_than_their_text() -> None:
    assert value("s.matches('(a+)+$')", s="a" * 5000 + "b") is False


def test_questions_to_the_authorizer() -> None:
    asked: list[Question] = []

    def ask(question: Question) -> Decision:
        asked.append(question)
        return Decision(question.verb == "get", why="since")

    variables = {
        "authorizer": types.opaque(Authorizer.type_name),
        "authorizer.requestResource": types.opaque(ResourceCheck.type_name),
    }
    environment = Environment(variables)
    bindings = {
        "authorizer": Authorizer(ask),
        "authorizer.requestResource": ResourceCheck(ask, Question(resource="pods", namespace="a")),
    }
    text = (
        "authorizer.group('apps').resource('deployments').subresource('status').namespace('x').name('y').check('get')"
        ".allowed() && !authorizer.serviceAccount('n', 'sa').path('/healthz').check('post').allowed()"
        " && authorizer.requestResource.check('get').reason() == 'since'"
    )
    answer = environment.compile(text).evaluate(bindings, budget=10_000_000)
    assert answer.value is True
    assert answer.cost > 3 * 350_000
    assert asked == [
        Question("get", "", "apps", "deployments", "status", "x", "y"),
        Question("post", "/healthz", service_account=("n", "sa")),
        Question("get", "", "", "pods", "", "a"),
    ]
