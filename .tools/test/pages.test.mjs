import { expect, test } from "vitest"
import { packedPage } from "../lib/pages.mjs"

test("a packed page keeps its links to packed pages and to the web, and of others the text", () => {
  const page = `[a code](errors.md#invalid), [here](#below), [the web](https://example.org/x.md), [a guide](contract.md#two-writers),
[fs](../packages/fs/README.md), [examples/chat](../examples/chat), [\`verify\`](../errors.md)
<img src="concepts.svg" width="760" alt="A log.">
`
  expect(
    packedPage(page, ["errors"]),
  ).toBe(`[a code](errors.md#invalid), [here](#below), [the web](https://example.org/x.md), a guide,
fs, examples/chat (in the repository), \`verify\`
A log.
`)
})
