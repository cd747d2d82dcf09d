import { describe, expect, test } from "vitest"
import { chain, compaction, edit, role, user } from "../../test/chain.ts"
import { buildSessionContext } from "./build.ts"
import { toModelMessages } from "./model-messages.ts"
import type { SummaryStyle } from "./types.ts"

type Fields = Readonly<Record<string, unknown>>

function render(payloads: readonly Fields[], summaryAs?: SummaryStyle) {
  const { messages } = buildSessionContext(chain(...payloads))
  return toModelMessages(messages, summaryAs)
}

/** The role and the text that a model reads for an entry. */
function said(...payloads: readonly Fields[]): string[] {
  return render(payloads).messages.map(({ message }) => {
    const block = message.content[0] as { text?: string } | undefined
    return `${message.role}: ${block?.text}`
  })
}

const bash = (more: Fields): Fields => role("bashExecution", { command: "ls", output: "", exitCode: 0, ...more })

describe("a shell command of the user", () => {
  test("is shown with its output in a fence", () => {
    expect(said(bash({ output: "a\nb" }))).toEqual(["user: Ran `ls`\n```\na\nb\n```"])
    expect(said(bash({ output: "a\n" }))).toEqual(["user: Ran `ls`\n```\na\n```"])
  })

  test("without output is shown as such", () => {
    expect(said(bash({}))).toEqual(["user: Ran `ls`\n(no output)"])
    expect(said(bash({ output: undefined }))).toEqual(["user: Ran `ls`\n(no output)"])
  })

  test("shows its exit code if that is not 0, or that it was cancelled", () => {
    expect(said(bash({ exitCode: 2 }))).toEqual(["user: Ran `ls`\n(no output)\nExit code: 2"])
    expect(said(bash({ exitCode: 2, cancelled: true }))).toEqual([
      "user: Ran `ls`\n(no output)\n(the command was cancelled)",
    ])
    expect(said(bash({ exitCode: undefined }))).toEqual(["user: Ran `ls`\n(no output)"])
  })

  test("whose output was truncated names the file that has all of it", () => {
    const path = "/tmp/pi-bash-1.log"
    const truncated = { output: "a", truncated: true, fullOutputPath: path }
    const note = `[Output truncated. Full output: ${path}]`
    expect(said(bash(truncated))).toEqual([`user: Ran \`ls\`\n\`\`\`\na\n\`\`\`\n${note}`])
    expect(said(bash({ ...truncated, exitCode: 2 }))[0]?.endsWith(`Exit code: 2\n${note}`)).toBe(true)
    for (const more of [{ truncated: false }, { fullOutputPath: undefined }, { fullOutputPath: 7 }])
      expect(said(bash({ ...truncated, ...more }))).toEqual(["user: Ran `ls`\n```\na\n```"])
  })

  test("cannot close its fence by its output", () => {
    expect(said(bash({ output: "```\nx\n````" }))).toEqual(["user: Ran `ls`\n`````\n```\nx\n````\n`````"])
    const [text] = said(bash({ output: "``` ".repeat(300_000) }))
    expect(text?.startsWith("user: Ran `ls`\n````\n")).toBe(true)
  })

  test("in Python is shown with its code", () => {
    const python = role("pythonExecution", { code: "1 + 1", output: "2" })
    expect(said(python)).toEqual(["user: Ran this Python code:\n```\n1 + 1\n```\n```\n2\n```"])
  })

  test("that is excluded from the context is left out, without a diagnostic", () => {
    for (const name of ["bashExecution", "pythonExecution"]) {
      const { messages, diagnostics } = render([role(name, { command: "ls", excludeFromContext: true })])
      expect({ messages, diagnostics }).toEqual({ messages: [], diagnostics: [] })
    }
    expect(said(bash({ excludeFromContext: false }))).toHaveLength(1)
  })

  test("is replaced by its edit, and stays excluded if it was", () => {
    expect(said(bash({ output: "secret" }), edit("e1", "gone"))).toEqual(["user: gone"])
    expect(said(bash({ output: "secret", excludeFromContext: true }), edit("e1", "gone"))).toEqual([])
  })
})

describe("a branch summary", () => {
  const summary = (text: unknown): Fields => ({ type: "branch_summary", fromId: "root", summary: text })

  test("is a user message with an introduction", () => {
    expect(said(summary("tried it"))).toEqual([
      "user: The following is a summary of a branch that this conversation came back from:\n\n<summary>\ntried it\n</summary>",
    ])
  })

  test("that is empty is left out", () => {
    expect(said(summary(""))).toEqual([])
    expect(said(summary(" \n"))).toEqual([])
  })

  test("that was edited has the text of the edit", () => {
    expect(said(summary("tried it"), edit("e1", "tried"))).toEqual(["user: tried"])
    expect(said(summary("tried it"), edit("e1", null))).toEqual([])
  })

  test("that is not a text is reported", () => {
    expect(buildSessionContext(chain(summary(5)))).toMatchObject({
      messages: [],
      diagnostics: [{ code: "invalid_record", entryId: "e1" }],
    })
  })
})

describe("a compaction", () => {
  test("is a user message with the summary on lines of its own", () => {
    expect(said(user("a"), compaction("e2"))).toEqual([
      "user: The conversation history before this point was compacted into the following summary:\n\n<summary>\nso far\n</summary>",
    ])
  })

  test("as a pair is a user's question and an assistant's answer, both synthesized and both with the compaction's entry id", () => {
    const { messages } = render([user("a"), compaction("e2"), user("b")], "pair")
    expect(messages.map(({ entryId, kind, message }) => [entryId, kind, message.role])).toEqual([
      ["e2", "compaction", "user"],
      ["e2", "compaction", "assistant"],
      ["e3", "message", "user"],
    ])
    for (const { message } of messages.slice(0, 2)) expect(message).toMatchObject({ synthetic: true, summary: true })
    expect(messages[1]?.message.content).toEqual([{ type: "text", text: "so far" }])
  })
})

describe("another role", () => {
  test("with content is a user message with that content", () => {
    const { messages } = render([
      role("notice", { content: [{ type: "image", data: "AA==", mimeType: "image/png" }], details: 1 }),
    ])
    expect(messages).toEqual([
      {
        entryId: "e1",
        kind: "message",
        message: { role: "user", content: [{ type: "image", data: "AA==", mimeType: "image/png" }] },
      },
    ])
  })

  test("without content (others write null for that) and without a rule is left out, and reported", () => {
    for (const message of [{ details: 1 }, { details: 1, content: null }]) {
      const { messages, diagnostics } = render([role("notice", message), user("a")])
      expect(messages).toHaveLength(1)
      expect(diagnostics).toMatchObject([{ code: "left_out", entryId: "e1" }])
    }
  })

  test("with the name of an internal role is still an unknown role", () => {
    for (const name of ["branchSummary", "compactionSummary", "custom"]) {
      expect(said(role(name, { content: [{ type: "text", text: "mine" }] }))).toEqual(["user: mine"])
      expect(render([role(name, { summary: "s", summaryText: "s" })])).toMatchObject({
        messages: [],
        diagnostics: [{ code: "left_out" }],
      })
    }
  })

  test("with an empty content is left out", () => {
    expect(render([role("notice", { content: [] })])).toEqual({ messages: [], diagnostics: [] })
  })
})

test("a custom message is a user message with its content, whether it is displayed or not", () => {
  for (const display of [true, false]) {
    const custom = {
      type: "custom_message",
      customType: "c",
      content: [{ type: "text", text: "t" }],
      display,
      details: "secret",
    }
    const { messages } = render([custom])
    expect(messages).toEqual([
      { entryId: "e1", kind: "custom", message: { role: "user", content: [{ type: "text", text: "t" }] } },
    ])
  }
})

test("messages of users, assistants, tools and the system are passed on whole", () => {
  const roles = ["user", "assistant", "toolResult", "system"]
  const block = { type: "server_tool_use", id: "s", input: { a: 1 } }
  const { messages } = render(
    roles.map((name) => role(name, { content: [block], toolCallId: "x", isError: false, extra: { b: 2 } })),
  )
  expect(messages.map(({ message }) => message)).toEqual(
    roles.map((name) => ({ role: name, content: [block], toolCallId: "x", isError: false, extra: { b: 2 } })),
  )
})

test("a plain string becomes one text block; content that is not a list of blocks is reported", () => {
  expect(said(role("user", { content: "bare" }))).toEqual(["user: bare"])
  for (const content of [5, [5], [{}], [{ type: 5 }], undefined, null]) {
    expect(buildSessionContext(chain(role("user", { content })))).toMatchObject({
      messages: [],
      diagnostics: [{ code: "invalid_record", entryId: "e1" }],
    })
  }
})

test("entries that are not part of a context leave nothing in it", () => {
  const types = [
    "session_init",
    "label",
    "title_change",
    "metadata",
    "usage",
    "file_snapshot",
    "leaf",
    "custom",
    "x_future",
  ]
  const { messages, diagnostics } = buildSessionContext(
    chain(
      ...types.map((type) => ({
        type,
        content: [{ type: "text", text: "no" }],
        message: { role: "user", content: "no" },
      })),
    ),
  )
  expect({ messages, diagnostics }).toEqual({ messages: [], diagnostics: [] })
})
