from __future__ import annotations

from ipaddress import IPv4Address, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.errors import UsageError
from sharc_crawler.live.wire.addresses import AddressRefusedError, AddressRules, Opening, Target

PUBLIC = AddressRules()


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("0.0.0.0", "unspecified"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("10.0.0.1", "private"),
        ("172.16.5.4", "private"),
        ("172.31.255.255", "private"),
        ("192.168.0.1", "private"),
        ("169.254.169.254", "link-local"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("100.127.255.255", "carrier-grade NAT"),
        ("224.0.0.1", "multicast"),
        ("239.255.255.255", "multicast"),
        ("240.0.0.1", "reserved"),
        ("255.255.255.255", "reserved"),
        ("192.0.2.1", "private"),
        ("198.18.0.1", "private"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("fe80::1", "link-local"),
        ("fe80::1%eth0", "link-local"),
        ("fc00::1", "private"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "private"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:a00:1", "private"),
        ("::127.0.0.1", "reserved"),
        ("2002:7f00:1::", "loopback"),
        ("64:ff9b::a9fe:a9fe", "link-local"),
        ("64:ff9b:1::1", "site-local"),
        ("192.88.99.1", "6to4 relay"),
        ("192.88.99.255", "6to4 relay"),
        ("2002:c058:6301::", "6to4 relay"),
        ("2002:808:808::1", "6to4"),
        ("::ffff:192.88.99.1", "6to4 relay"),
        ("64:ff9b::192.88.99.1", "6to4 relay"),
        ("192.0.0.9", "special-purpose"),
        ("2002:a00:1::1", "private"),
        ("2002:a9fe:a9fe::", "link-local"),
        ("2606:4700::5efe:10.0.0.1", "private"),  # ISATAP
        ("2606:4700::200:5efe:192.168.0.1", "private"),
        ("2606:4700::5efe:127.0.0.1", "loopback"),
        ("fe80::5efe:8.8.8.8", "link-local"),
        ("2001:0:808:808:0:ffff:f5ff:fffe", "private"),  # Teredo, of the client 10.0.0.1
        ("2001:0:808:808::f7f7:f7f7", "special-purpose"),  # … and of 8.8.8.8: no site is there
        ("2001:20::1", "special-purpose"),  # ORCHID
        ("2001:2::1", "special-purpose"),
        ("3fff::1", "documentation"),
        ("5f00::1", "special-purpose"),
        ("100::1", "reserved"),
        ("::ffff:0:10.0.0.1", "reserved"),  # SIIT
        ("64:ff9b::10.0.0.1", "private"),
        ("64:ff9b::100.64.0.1", "carrier-grade NAT"),
        ("64:ff9b:1:a00:0:100::", "site-local"),
    ],
)
def test_refused(address, kind):
    assert PUBLIC.refusal(address) == kind


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "100.63.255.255",
        "100.128.0.0",
        "172.32.0.1",
        "2606:4700::1111",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "192.88.98.255",
        "192.88.100.0",
        "2606:4700::5efe:8.8.8.8",
        "2606:4700::5eff:10.0.0.1",
        "2001:200::1",
    ],
)
def test_public(address):
    assert PUBLIC.refusal(address) is None


@pytest.mark.slow
@given(st.ip_addresses(v=4))
def test_an_address_in_disguise_is_judged_as_what_it_is(address: IPv4Address):
    plain = PUBLIC.refusal(str(address))
    assert PUBLIC.refusal(f"::ffff:{address}") == plain
    assert PUBLIC.refusal(str(ip_address("64:ff9b::") + int(address))) == plain


@given(st.ip_addresses())
def test_what_is_not_global_is_never_let_through(address):
    if not address.is_global or address.is_multicast:
        mapped = getattr(address, "ipv4_mapped", None)
        assert (mapped and mapped.is_global) or PUBLIC.refusal(str(address))


def test_the_error_names_host_address_and_setting():
    with pytest.raises(AddressRefusedError) as caught:
        PUBLIC.check(Target("intranet.example"), "10.0.0.7")
    assert str(caught.value) == (
        "host 'intranet.example' is at 10.0.0.7, a private address, which is not crawled; "
        "if that is meant, add its network to SHARC_ALLOWED_ADDRESSES"
    )


def test_allowed_networks_also_in_disguise():
    rules = AddressRules.of(["127.0.0.0/8", "fd00::/8"])
    for address in ("127.0.0.1", "::ffff:127.0.0.1", "fd00::1"):
        rules.check(Target("host"), address)
    assert rules.refusal("10.0.0.1") == "private"
    assert rules.refusal("::1") == "loopback"


@pytest.mark.parametrize("text", ["127.0.0.1/8", "localhost", "", "10.0.0.0/33"])
def test_a_bad_setting_is_named(text):
    with pytest.raises(UsageError, match=r"SHARC_ALLOWED_ADDRESSES='.*' is not a network: .*; write it like 127"):
        AddressRules.of([text])


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "::1",
        "localhost",
        "localhost.",
        "a.localhost",
        "%4Cocalhost",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "0:0::1",
        "::ffff:7f00:1",
    ],
)
def test_literal_hosts_in_any_spelling(host):
    with pytest.raises(AddressRefusedError, match="loopback"):
        PUBLIC.check_literal(Target(host))


@pytest.mark.parametrize("host", ["example.org", "1.1.1.1", "dead.beef", "", "999.999.999.999", "face"])
def test_names_and_public_literals_pass(host):
    PUBLIC.check_literal(Target(host))


def test_a_seed_that_was_typed_is_open_to_its_own_site_and_port_alone():
    rules = AddressRules.of([], [Opening("127.0.0.1:8000", "127.0.0.1", 8000), Opening("localhost", "localhost", 80)])
    rules.check_literal(Target("127.0.0.1", 8000, "127.0.0.1:8000"))
    rules.check(Target("127.0.0.1", 8000, "127.0.0.1:8000"), "127.0.0.1")
    rules.check_literal(Target("localhost", 80, "localhost"))
    for target in (
        Target("127.0.0.1", 8001, "127.0.0.1:8000"),
        Target("127.0.0.1", 8000, "public.example"),
        Target("127.0.0.1", 8000),
        Target("127.1", 8000, "127.0.0.1:8000"),
        Target("localhost", 8000, "127.0.0.1:8000"),
        Target("localhost", 80, "public.example"),
    ):
        with pytest.raises(AddressRefusedError, match="a loopback address"):
            rules.check_literal(target)
    with pytest.raises(AddressRefusedError, match=r"'bound\.example' is at 127\.0\.0\.1"):
        rules.check(Target("bound.example", 8000, "127.0.0.1:8000"), "127.0.0.1")
