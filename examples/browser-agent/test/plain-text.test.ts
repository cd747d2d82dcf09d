import { expect, test } from "vitest"
import { plainText } from "../src/sessions/plain-text.ts"

test.each([
  ["How do `branches` **work**?", "How do branches work?"],
  ["# A title\n\nand a [link](https://example.org), ![a picture](x.png)", "A title and a link, a picture"],
  ["first\nsecond  \nthird", "first second third"],
  ["- one\n- two\n\n> quoted", "one two quoted"],
  ["1. do this\n2. do that", "1. do this 2. do that"],
  ["```js\nlet x = 1 < 2\n```", "let x = 1 < 2"],
  ["snake_case_name, 2 * 3 * 4, <b>no tag</b> &amp; a\\*", "snake_case_name, 2 * 3 * 4, <b>no tag</b> & a*"],
  ["", ""],
])("%j is shown as %j", (markdown, plain) => {
  expect(plainText(markdown)).toBe(plain)
})
