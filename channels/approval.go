package channels

import "fmt"

// HowToAnswer returns the instructions (Markdown) for answering an approval on channels
// without buttons.
func HowToAnswer(approval string) string {
	return fmt.Sprintf("Answer `/approve %[1]s` or `/deny %[1]s`.", approval)
}
