package channels

import "fmt"

// HowToAnswer says in words (Markdown) how the question with this ID is answered,
// for channels without buttons.
func HowToAnswer(approval string) string {
	return fmt.Sprintf("Answer `/approve %[1]s` or `/deny %[1]s`.", approval)
}
