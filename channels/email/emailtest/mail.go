package emailtest

import (
	"bytes"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"mime"
	"net"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-imap/v2"
	"github.com/emersion/go-imap/v2/imapclient"
	gomail "github.com/emersion/go-message/mail"
	"github.com/stretchr/testify/require"
)

// Letter is a mail that a person writes.
type Letter struct {
	From    string // address; it is authenticated unless Forged
	Forged  bool
	ID      string // Message-ID, without brackets
	Refers  []string
	Subject string
	Text    string
	Header  map[string]string // further fields
	Files   map[string]string // content by name
}

// Raw returns the mail as the agent's server stores it.
func (l Letter) Raw() []byte {
	var b bytes.Buffer
	var h gomail.Header
	for name, value := range l.Header {
		h.Set(name, value)
	}
	if l.Subject != "" {
		h.SetSubject(l.Subject)
	}
	if len(l.Refers) > 0 {
		h.SetMsgIDList("References", l.Refers)
		h.SetMsgIDList("In-Reply-To", l.Refers[len(l.Refers)-1:])
	}
	if l.ID != "" {
		h.SetMessageID(l.ID)
	}
	h.SetDate(time.Now())
	h.SetAddressList("To", []*gomail.Address{{Address: Agent}})
	h.Set("From", l.From)
	verdict := "pass"
	if l.Forged {
		verdict = "fail"
	}
	h.Add("Received", "from out.example.com by "+AuthservID+" with ESMTPS; Mon, 2 Mar 2026 10:00:00 +0000")
	h.Add("Authentication-Results", AuthservID+"; dmarc="+verdict+" (p=reject) header.from="+l.From[strings.LastIndexByte(l.From, '@')+1:])
	if len(l.Files) == 0 {
		h.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
		w, _ := gomail.CreateSingleInlineWriter(&b, h) // a buffer takes everything, here and below
		_, _ = w.Write([]byte(l.Text))
		_ = w.Close()
		return b.Bytes()
	}
	w, _ := gomail.CreateWriter(&b, h)
	var text gomail.InlineHeader
	text.SetContentType("text/plain", map[string]string{"charset": "utf-8"})
	part, _ := w.CreateSingleInline(text)
	_, _ = part.Write([]byte(l.Text))
	_ = part.Close()
	for name, content := range l.Files {
		var file gomail.AttachmentHeader
		file.SetContentType(cmp.Or(strings.Split(mime.TypeByExtension(path.Ext(name)), ";")[0], "application/octet-stream"), nil)
		file.SetFilename(name)
		part, _ := w.CreateAttachment(file)
		_, _ = part.Write([]byte(content))
		_ = part.Close()
	}
	_ = w.Close()
	return b.Bytes()
}

// Say delivers a person's mail to the agent and returns its UID.
func (s *Server) Say(l Letter) uint32 { return s.Put(l.Raw()) }

// Client returns a connection to the IMAP server, logged in.
func (s *Server) Client() *imapclient.Client {
	c, err := imapclient.DialTLS(s.IMAP(), &imapclient.Options{TLSConfig: s.TLS})
	require.NoError(s.t, err)
	require.NoError(s.t, c.Login(Agent, Password).Wait())
	return c
}

// SentMailbox is the name of the mailbox for sent mail.
const SentMailbox = "Gesendet"

// Mailbox returns the mail in a mailbox.
func (s *Server) Mailbox(name string) (all [][]byte) {
	c := s.Client()
	defer c.Close()
	_, err := c.Select(name, nil).Wait()
	require.NoError(s.t, err)
	found, err := c.UIDSearch(&imap.SearchCriteria{}, nil).Wait()
	require.NoError(s.t, err)
	for _, uid := range found.AllUIDs() {
		mail, err := c.Fetch(imap.UIDSetNum(uid), &imap.FetchOptions{BodySection: []*imap.FetchItemBodySection{{Peek: true}}}).Collect()
		require.NoError(s.t, err)
		if len(mail) > 0 { // otherwise it was removed meanwhile
			all = append(all, mail[0].BodySection[0].Bytes)
		}
	}
	return all
}

// CAFile returns a PEM file with the CA of the servers.
func (s *Server) CAFile(t testing.TB) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "ca.pem")
	block := &pem.Block{Type: "CERTIFICATE", Bytes: s.cert.Certificate[0]}
	require.NoError(t, os.WriteFile(name, pem.EncodeToMemory(block), 0o600))
	return name
}

// certificate returns the certificate of the servers, and what trusts it.
func certificate(t testing.TB) (tls.Certificate, *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
}
