//go:build peers

package email_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	"github.com/stretchr/testify/require"

	"github.com/holdfast-ai/holdfast/channels/channeltest"
	"github.com/holdfast-ai/holdfast/channels/email"
	"github.com/holdfast-ai/holdfast/internal/domain"
)

const (
	dovecotConf = `
protocols = imap lmtp
base_dir = DIR/run
state_dir = DIR/run
log_path = DIR/dovecot.log
listen = 127.0.0.1
ssl = required
ssl_cert = <DIR/cert.pem
ssl_key = <DIR/key.pem
mail_location = maildir:~/Maildir
mail_home = DIR/mail/%u
passdb {
  driver = static
  args = password=secret
}
userdb {
  driver = static
  args = uid=nobody gid=nogroup home=DIR/mail/%u allow_all_users=yes
}
namespace inbox {
  inbox = yes
  mailbox "Sent Messages" {
    auto = create
    special_use = \Sent
  }
}
service imap-login {
  inet_listener imap {
    port = 0
  }
  inet_listener imaps {
    port = IMAP
    ssl = yes
  }
}
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = LMTP
  }
}
service auth {
  inet_listener auth {
    address = 127.0.0.1
    port = AUTH
  }
}
`
	postfixMain = `
compatibility_level = 3.6
queue_directory = DIR/queue
data_directory = DIR/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = DIR/postfix.log
maillog_file_prefixes = DIR
myhostname = mx.example.org
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
virtual_mailbox_domains = example.org
virtual_transport = lmtp:inet:127.0.0.1:LMTP
smtpd_tls_security_level = may
smtpd_tls_cert_file = DIR/cert.pem
smtpd_tls_key_file = DIR/key.pem
smtpd_sasl_auth_enable = yes
smtpd_sasl_type = dovecot
smtpd_sasl_path = inet:127.0.0.1:AUTH
smtpd_recipient_restrictions = permit_sasl_authenticated, reject_unauth_destination
smtpd_relay_restrictions = permit_sasl_authenticated, reject_unauth_destination
`
	postfixMaster = `
127.0.0.1:SMTP inet n - n - - smtpd
pickup unix n - n 60 1 pickup
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
lmtp unix - - n - - lmtp
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
tlsmgr unix - - n 1000? 1 tlsmgr
postlog unix-dgram n - n - 1 postlogd
`
)

// servers runs Debian's Dovecot and Postfix, as root, on free ports.
func servers(t *testing.T) email.Options {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("Dovecot and Postfix want root")
	}
	for _, program := range []string{"dovecot", "postfix", "swaks"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip("install Debian's dovecot-imapd, dovecot-lmtpd, postfix and swaks")
		}
	}
	dir, err := os.MkdirTemp("/tmp", "mail")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	ports := []string{"DIR", dir}
	port := map[string]string{}
	for _, name := range []string{"IMAP", "LMTP", "AUTH", "SMTP"} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		_, port[name], _ = net.SplitHostPort(l.Addr().String())
		require.NoError(t, l.Close())
	}
	put := func(name, content string) {
		content = strings.NewReplacer(ports...).Replace(content)
		for name, number := range port {
			content = strings.ReplaceAll(content, "= "+name, "= "+number)
			content = strings.ReplaceAll(content, "127.0.0.1:"+name, "127.0.0.1:"+number)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644))
	}
	certificate := selfSigned(t, put)
	for _, name := range []string{"mail", "queue", "data", "postfix", "run"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	must(t, "chown", "nobody:nogroup", filepath.Join(dir, "mail"))
	must(t, "chown", "postfix", filepath.Join(dir, "data"))
	must(t, "chmod", "755", dir)
	put("dovecot.conf", dovecotConf)
	put("postfix/main.cf", postfixMain)
	put("postfix/master.cf", postfixMaster)
	require.NoError(t, exec.Command("dovecot", "-c", filepath.Join(dir, "dovecot.conf")).Run())
	t.Cleanup(func() { _ = exec.Command("dovecot", "-c", filepath.Join(dir, "dovecot.conf"), "stop").Run() })
	require.NoError(t, exec.Command("postfix", "-c", filepath.Join(dir, "postfix"), "start").Run())
	t.Cleanup(func() {
		if t.Failed() {
			for _, name := range []string{"postfix.log", "dovecot.log"} {
				log, _ := os.ReadFile(filepath.Join(dir, name))
				t.Logf("%s:\n%s", name, log)
			}
		}
		_ = exec.Command("postfix", "-c", filepath.Join(dir, "postfix"), "stop").Run()
	})
	return email.Options{
		Address: "agent@example.org", Name: "Holdfast", Password: "secret", AllowUsers: []string{"ana@example.org"},
		IMAP:        email.Server{Address: "127.0.0.1:" + port["IMAP"], Security: email.SecurityTLS},
		SMTP:        email.Server{Address: "127.0.0.1:" + port["SMTP"], Security: email.SecurityStartTLS},
		TrustSender: true, BlindCopy: true, MarkSeen: true, FileLimit: 1 << 20, TLS: certificate,
	}
}

func must(t *testing.T, name string, args ...string) {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	require.NoError(t, err, "%s %v: %s", name, args, out)
}

func selfSigned(t *testing.T, put func(name, content string)) *tls.Config {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	put("cert.pem", string(certificate))
	put("key.pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(certificate)
	return &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}

// The channel receives from Dovecot what swaks hands to Postfix, and answers through both.
func TestPeerDovecotAndPostfix(t *testing.T) {
	o := servers(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	channel, err := email.New(o)
	require.NoError(t, err)
	for _, finding := range channel.CheckSetup(ctx) {
		t.Log(finding.Level, finding.Text)
	}
	backend := channeltest.NewBackend(nil)
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- channel.Run(running, backend) }()
	require.Eventually(t, func() bool {
		cursor, err := backend.Cursor(ctx, email.Name, "INBOX")
		return err == nil && cursor != ""
	}, 30*time.Second, 50*time.Millisecond)

	const n = 3
	for i := range n {
		must(t, "swaks", "--server", o.SMTP.Address, "--from", "ana@example.org", "--to", "agent@example.org", "--header", "Subject: Größe",
			"--body", fmt.Sprintf("question %d", i), "--attach", "@/etc/hostname")
	}
	require.NoError(t, backend.Await(ctx, func(c channeltest.Counts) bool { return c.Accepted == n }))
	for i, msg := range backend.Accepted() {
		require.Equal(t, "ana@example.org", msg.Chat)
		require.Contains(t, msg.Text, "question ")
		require.Len(t, msg.Files, 1)
		content, err := channel.Fetch(ctx, msg.Files[0])
		require.NoError(t, err)
		require.NoError(t, content.Close())
		out := domain.Outbound{ID: fmt.Sprint("o", i), Chat: msg.Chat, Thread: msg.Thread, ReplyTo: msg.PlatformID, Text: "**answer**"}
		_, err = channel.Send(ctx, out)
		require.NoError(t, err)
		found, err := channel.Find(ctx, out)
		require.NoError(t, err)
		require.True(t, found.Posted)
	}
	// Ana has each answer once, in its thread.
	his := o
	his.Address, his.Username = "ana@example.org", "ana@example.org"
	require.Eventually(t, func() bool { return len(answers(t, his)) == n }, 30*time.Second, 200*time.Millisecond)
	for _, raw := range answers(t, his) {
		require.Contains(t, raw, "Subject: =?utf-8?")
		require.Contains(t, raw, "In-Reply-To: <")
	}
	stop()
	require.NoError(t, <-ended)
}

// answers returns the mail in the INBOX of an account.
func answers(t *testing.T, o email.Options) (all []string) {
	c, err := imapclient.DialTLS(o.IMAP.Address, &imapclient.Options{TLSConfig: o.TLS.Clone()})
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.Login(o.Username, o.Password).Wait())
	_, err = c.Select("INBOX", nil).Wait()
	require.NoError(t, err)
	found, err := c.UIDSearch(&imap.SearchCriteria{}, nil).Wait()
	require.NoError(t, err)
	for _, uid := range found.AllUIDs() {
		mail, err := c.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{BodySection: []*imap.FetchItemBodySection{{Peek: true}}}).Collect()
		require.NoError(t, err)
		all = append(all, string(mail[0].BodySection[0].Bytes))
	}
	return all
}
