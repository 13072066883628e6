package channeltest

import "io"

// SaveTo is a [channels.Enrichment.Save] that keeps the contents of files by name.
func SaveTo(files map[string]string) func(name string, content io.Reader) (string, error) {
	return func(name string, content io.Reader) (string, error) {
		all, err := io.ReadAll(content)
		if err != nil {
			return "", err
		}
		files[name] = string(all)
		return "media/" + name, nil
	}
}
