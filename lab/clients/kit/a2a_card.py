"""Reads an agent's card with A2A's own Python SDK, and verifies its signature.

Takes the host's URL, the agent's id and a token, and prints what it read as JSON. With
--files CARD KEYS it reads both from files instead. Needs a2a-sdk[signing] (requirements.txt).
"""

import asyncio
import json
import sys

import httpx
from a2a.client.card_resolver import A2ACardResolver, parse_agent_card
from a2a.utils.proto_utils import validate_proto_required_fields
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from jwt.api_jwk import PyJWKSet


def verifier(keys, jku):
    """Verifies by the keys that were read from the host, and by no others that a card names."""
    known = PyJWKSet.from_dict(keys)

    def key(kid, url):
        if jku is not None and url != jku:
            raise SystemExit(f"the card names the keys at {url}, not those at {jku}")
        return known[kid]

    return create_signature_verifier(key, ["EdDSA"])


def told(card, verify):
    """What the card says, once it is complete and signed, and a forged one is refused."""
    validate_proto_required_fields(card)
    verify(card)
    forged = type(card)()
    forged.CopyFrom(card)
    forged.name += "!"
    try:
        verify(forged)
        raise SystemExit("a forged card was taken for the host's")
    except InvalidSignaturesError:
        pass
    interface = card.supported_interfaces[0]
    return {
        "name": card.name,
        "version": card.version,
        "url": interface.url,
        "tenant": interface.tenant,
        "protocolBinding": interface.protocol_binding,
        "skills": [skill.id for skill in card.skills],
        "verified": True,
    }


async def read(host, agent, token):
    jku = f"{host}/.well-known/jwks.json"
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with httpx.AsyncClient(timeout=30) as http:
        verify = verifier((await http.get(jku)).raise_for_status().json(), jku)
        resolver = A2ACardResolver(http, f"{host}/agents/{agent}")
        card = await resolver.get_agent_card(
            http_kwargs={"headers": headers}, signature_verifier=verify
        )
    return told(card, verify)


def main():
    match sys.argv[1:]:
        case ["--files", card, keys]:
            with open(card) as card, open(keys) as keys:
                said = told(parse_agent_card(json.load(card)), verifier(json.load(keys), None))
        case [host, agent, *token]:
            said = asyncio.run(read(host.rstrip("/"), agent, token[0] if token else ""))
        case _:
            raise SystemExit("usage: a2a_card.py HOST AGENT [TOKEN]")
    print(json.dumps(said))


main()
