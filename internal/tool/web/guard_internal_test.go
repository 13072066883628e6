package web

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPublic(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "100.63.255.255": true, "172.32.0.1": true,
		"2606:4700:4700::1111": true, "::ffff:8.8.8.8": true, "64:ff9b::8.8.8.8": true,

		"0.0.0.0": false, "0.1.2.3": false, "127.0.0.1": false, "127.8.8.8": false,
		"10.0.0.1": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.1.1": false,
		"169.254.169.254": false, "100.64.0.1": false, "100.127.255.255": false,
		"192.0.0.8": false, "192.0.2.1": false, "198.18.0.1": false, "198.19.255.255": false, "203.0.113.9": false,
		"224.0.0.1": false, "239.255.255.255": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false,
		"ff02::1": false, "2001:db8::1": false, "2001::1": false, "2002:7f00:1::": false, "fec0::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false,
		"64:ff9b::127.0.0.1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b:1::1": false,
	}
	for text, want := range tests {
		require.Equal(t, want, public(netip.MustParseAddr(text)), text)
	}
}
