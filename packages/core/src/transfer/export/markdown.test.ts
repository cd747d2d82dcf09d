import { branchWithSummary } from "../../compaction/index.ts"
import { expect, test } from "vitest"
import { sessionsIn, textOf } from "../../../test/transfer.ts"
import { assistant, user } from "../../../test/writers.ts"
import { entryToMarkdown } from "./markdown.ts"
import { blockText, inlineText, sizeText } from "./markdown-text.ts"
import type { Message } from "../../format/message.ts"
import { exportSession } from "../index.ts"

const AT = "2026-01-31T09:30:00.000Z"

function said(message: object): string | undefined {
  return entryToMarkdown({
    type: "message",
    id: "a",
    parentId: null,
    seq: 1,
    timestamp: AT,
    message: message as Message,
  })
}

function saidBlock(block: Record<string, unknown>): string {
  return (said({ role: "assistant", content: [block] }) ?? "").replace("## Assistant · 2026-01-31 09:30:00 UTC\n\n", "")
}

test("a document has a head and the whole history of the current path across compactions, without deleted messages", async () => {
  const sessions = sessionsIn(undefined, { now: () => Date.parse(AT) })
  const session = await sessions.create({ id: "s", cwd: "/project" })
  await session.append([user("first", "a"), assistant("left", "x")])
  await session.branch("a")
  await session.append([user("secret", "c"), assistant("second", "b")])
  await session.tombstone("c")
  const compaction = { type: "compaction" as const, summary: "so far\nso good", firstKeptEntryId: "b", tokensBefore: 9 }
  await session.append({ ...compaction, readFiles: [], modifiedFiles: [] })
  await branchWithSummary(session, "b", "was elsewhere")
  await session.title("A *title*")
  expect(await textOf(exportSession(sessions, "s", { format: "markdown" }))).toBe(`# A \\*title\\*

- Session: s
- Started: 2026-01-31 09:30:00 UTC
- Directory: /project

## User · 2026-01-31 09:30:00 UTC

first

## Assistant · 2026-01-31 09:30:00 UTC

second

## Back from another branch · 2026-01-31 09:30:00 UTC

> was elsewhere
`)
})

test("a compaction is marked at its position, after the messages that it summarizes", async () => {
  const sessions = sessionsIn()
  const session = await sessions.create({ id: "s" })
  await session.append(user("before", "a"))
  const compaction = { type: "compaction" as const, summary: "so far\nso good", firstKeptEntryId: "a", tokensBefore: 9 }
  await session.append([{ ...compaction, readFiles: [], modifiedFiles: [] }, user("after")])
  const text = await textOf(exportSession(sessions, "s", { format: "markdown" }))
  const places = ["before", "## Compaction", "> so far\n> so good", "after"].map((part) => text.indexOf(part))
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places[0]).toBeGreaterThan(0)
})

test("blocks are rendered by type", () => {
  expect(saidBlock({ type: "thinking", thinking: "hm" })).toBe(
    "<details>\n<summary>Thinking</summary>\n\nhm\n\n</details>",
  )
  expect(saidBlock({ type: "toolCall", id: "1", name: "bash", arguments: { command: "ls" } })).toBe(
    'Tool call: **bash**\n\n```json\n{\n  "command": "ls"\n}\n```',
  )
  expect(saidBlock({ type: "image", mimeType: "image/png", data: btoa("x".repeat(12_345)) })).toBe(
    "[image, 12 KB, image/png]",
  )
  expect(saidBlock({ type: "image", mimeType: "image/png", data: `blob:sha256:${"a".repeat(64)}` })).toBe(
    "[image, not available, image/png]",
  )
  expect(saidBlock({ type: "file", path: "/a/b.pdf", mimeType: "application/pdf", size: 1_500_000 })).toBe(
    "[file, /a/b.pdf, 1.5 MB, application/pdf]",
  )
  expect(saidBlock({ type: "x_new", a: 1 })).toContain('```json\n{\n  "type": "x_new"')
})

test("a tool result is fenced by more backticks than it contains", () => {
  const text = said({
    role: "toolResult",
    toolName: "read",
    toolCallId: "1",
    isError: true,
    content: [{ type: "text", text: "a\n````\nb" }],
  })
  expect(text).toBe("## Tool result: read (error) · 2026-01-31 09:30:00 UTC\n\n`````\na\n````\nb\n`````")
})

test("shell commands and custom roles are rendered, and hidden notes are not", () => {
  const ran = said({ role: "bashExecution", command: "ls", output: "a", exitCode: 0, excludeFromContext: true })
  expect(ran).toBe("## bashExecution · 2026-01-31 09:30:00 UTC\n\nRan `ls`\n```\na\n```")
  expect(said({ role: "bare" })).toContain('"role": "bare"')
  const note = {
    type: "custom_message" as const,
    id: "a",
    parentId: null,
    seq: 1,
    timestamp: AT,
    customType: "n",
    content: [{ type: "text" as const, text: "shown" }],
  }
  expect(entryToMarkdown({ ...note, display: true })).toContain("shown")
  expect(entryToMarkdown({ ...note, display: false })).toBeUndefined()
})

test("text can neither close nor hide its surroundings", () => {
  expect(blockText("```js\nlet a")).toBe("```js\nlet a\n```")
  expect(blockText("~~~~\n```\n~~~~\nb")).toBe("~~~~\n```\n~~~~\nb")
  expect(blockText("a <!-- b\n</details> <DETAILS open> <b>")).toBe("a &lt;!-- b\n&lt;/details> &lt;DETAILS open> <b>")
  expect(blockText("```\n<!-- code\n```")).toBe("```\n<!-- code\n```")
  expect(inlineText("a\n# b `c` <i>")).toBe("a \\# b \\`c\\` \\<i\\>")
})

test("a fence in a list or a quotation hides nothing, and HTML begins no block", () => {
  expect(blockText("    ```\na")).toBe("```\na\n```")
  // The end of the list ends its fence, so that a fence behind it would begin one.
  expect(blockText("- a\n\n  ```\n<details>")).toBe("- a\n\n  ```\n  ```\n&lt;details>")
  expect(blockText("1. a\n   ```html\n   <script>\n   ```\nb")).toBe("1. a\n   ```html\n   <script>\n   ```\nb")
  expect(blockText("- ```\n  a\n  ```\n  <details>")).toBe("- ```\n  a\n  ```\n  &lt;details>")
  expect(blockText("- a\n\n  ```\n     ```\n  <details>")).toBe("- a\n\n  ```\n  ```\n  &lt;details>")
  expect(blockText("<div>\n```\n\n<details>")).toBe("&lt;div>\n```\n\n<details>\n```")
  expect(blockText("<https://example.com> <plaintext>")).toBe("<https://example.com> &lt;plaintext>")
})

test("HTML in a span of code is shown as it is, unless something else may end the span", () => {
  expect(blockText("use `<script>` or ``a ` <details>``")).toBe("use `<script>` or ``a ` <details>``")
  expect(blockText("a ` b\n` <details> `x`")).toBe("a ` b\n` &lt;details> `x`")
  expect(blockText("\\` <details> `")).toBe("\\` &lt;details> `")
  expect(blockText('<b title="`"> <details> `')).toBe('&lt;b title="`"> &lt;details> `')
})

test("text has no headings like those of the document", () => {
  const heading = "User · 2026-01-31 09:30:00 UTC"
  expect(blockText(`a\n## ${heading}\n\nI agree`)).toBe(`a\n\\## ${heading}\n\nI agree`)
  expect(blockText(`${heading}\n---\nI agree`)).toBe(`${heading}\n\\---\nI agree`)
  expect(blockText(`${heading}\nso\n===`)).toBe(`${heading}\nso\n\\===`)
  expect(blockText(`a <h2>${heading}</h2>`)).toBe(`a &lt;h2>${heading}&lt;/h2>`)
  expect(blockText("## What I did\n---")).toBe("## What I did\n---")
})

test("control characters are made visible", () => {
  expect(blockText("a\u001b[31mb\u0007\tc\r\nd\re")).toBe("a␛[31mb␇\tc\nd␍e")
  expect(blockText("a\u009b31m\u202eb\u007f")).toBe("a<U+009B>31m<U+202E>b␡")
})

test("size units are powers of 1,000", () => {
  expect([0, 999, 1_000, 999_499, 1_000_000].map(sizeText)).toEqual([
    "0 bytes",
    "999 bytes",
    "1 KB",
    "999 KB",
    "1.0 MB",
  ])
})
