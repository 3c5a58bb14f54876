"""Signed tokens: only what one of the keys signed is believed."""

from __future__ import annotations

import base64
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc import jws
from joserfc.jwk import KeySet

from pilothouse.auth.tokens import BadToken, Signer, claims_of, new_key

RSA = new_key()
CLAIMS = {"sub": "system:serviceaccount:a:b", "aud": ["x"], "exp": 1, "kubernetes.io": {"namespace": "a"}}


def elliptic(curve: ec.EllipticCurve) -> bytes:
    return ec.generate_private_key(curve).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def signer(*pems: bytes) -> Signer:
    return Signer(lambda: pems)


def part(token: str, index: int) -> bytes:
    text = token.split(".")[index]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def test_a_token_says_which_key_signed_it_and_claims_are_in_order() -> None:
    made = signer(RSA)
    token = made.sign(CLAIMS)
    assert json.loads(part(token, 0)) == {"alg": "RS256", "kid": made.keys[0].kid}
    assert (
        part(token, 1) == b'{"aud":["x"],"exp":1,"kubernetes.io":{"namespace":"a"},"sub":"system:serviceaccount:a:b"}'
    )
    assert made.verify(token) == CLAIMS == claims_of(token)


@pytest.mark.parametrize(
    ("curve", "algorithm"), [(ec.SECP256R1(), "ES256"), (ec.SECP384R1(), "ES384"), (ec.SECP521R1(), "ES512")]
)
def test_elliptic_keys_sign_too(curve: ec.EllipticCurve, algorithm: str) -> None:
    made = signer(elliptic(curve))
    token = made.sign(CLAIMS)
    assert json.loads(part(token, 0))["alg"] == algorithm
    assert made.verify(token) == CLAIMS


def test_old_keys_are_believed_the_first_one_signs() -> None:
    old = signer(RSA)
    new = signer(elliptic(ec.SECP256R1()), RSA)
    assert new.verify(old.sign(CLAIMS)) == CLAIMS
    with pytest.raises(BadToken):
        old.verify(new.sign(CLAIMS))


def test_others_verify_with_the_public_keys() -> None:
    made = signer(RSA, elliptic(ec.SECP256R1()))
    published = [key.public() for key in made.keys]
    assert [key["kty"] for key in published] == ["RSA", "EC"]
    assert not any("d" in key for key in published)
    keys = KeySet.import_key_set({"keys": published})
    assert jws.deserialize_compact(made.sign(CLAIMS), keys).payload == part(made.sign(CLAIMS), 1)


def test_nobody_chooses_the_algorithm_but_the_key() -> None:
    made = signer(RSA)
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').rstrip(b"=").decode()
    body = made.sign(CLAIMS).split(".")[1]
    with pytest.raises(BadToken):
        made.verify(f"{unsigned}.{body}.")
    symmetric = base64.urlsafe_b64encode(b'{"alg":"HS256"}').rstrip(b"=").decode()
    with pytest.raises(BadToken):
        made.verify(f"{symmetric}.{body}.AAAA")


ONE = signer(RSA)
TOKEN = ONE.sign(CLAIMS)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, len(TOKEN) - 1), st.characters(min_codepoint=33, max_codepoint=126))
def test_a_changed_token_is_no_token(at: int, char: str) -> None:
    changed = TOKEN[:at] + char + TOKEN[at + 1 :]
    try:
        found = ONE.verify(changed)
    except BadToken:
        return
    # The last character of a part has bits that mean nothing; what is signed is still the same.
    assert found == CLAIMS


@given(st.text(max_size=60))
def test_any_text_is_refused_in_order(text: str) -> None:
    with pytest.raises(BadToken):
        ONE.verify(text)
