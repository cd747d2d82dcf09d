import { expect, test } from "vitest"
import { linksOutOf, packedPage } from "../lib/pages.mjs"

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

test("links out of a package are those to files that it does not have", () => {
  const files = ["package/README.md", "package/docs/errors.md"]
  const text = `[a](docs/errors.md#invalid) [b](../../docs/errors.md) [c](#below) [d](https://example.org/x.md) [e](docs/no.md "t")
<img src="concepts.svg"> <a href="mailto:a@example.org">f</a> \`[g](code.md)\`

\`\`\`ts
const [h](i.md)
\`\`\`
[j]: ../core
`
  expect(linksOutOf(files, "package/README.md", text)).toEqual([
    "../../docs/errors.md",
    "docs/no.md",
    "concepts.svg",
    "../core",
  ])
  expect(linksOutOf(files, "package/docs/errors.md", "[a](../README.md) [b](errors.md) [c](README.md)")).toEqual([
    "README.md",
  ])
})
