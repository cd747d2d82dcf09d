/** Logs with wrong parents, ids or seqs: each opens, reports the damage and accepts appends without losing a byte. */
import { expect, test } from "vitest"
import { header, jsonl, log, message, TIME, textsOf } from "./logs.ts"
import { createWorkspace, refusalOrSuccess } from "./workspace.ts"
import { continueRecent } from "@sessions/core/transfer"

interface Damage {
  readonly lines: readonly string[]
  /** Codes that verify reports, possibly among others. */
  readonly codes: readonly string[]
  /** Texts of the messages in the context. */
  readonly texts: readonly string[]
}

const m = message
const entry = (type: string, id: string, parentId: string | null, seq: number, more: object): string =>
  JSON.stringify({ type, id, parentId, seq, timestamp: TIME, ...more })

const DAMAGES: Readonly<Record<string, Damage>> = {
  "a parent cycle": {
    lines: [m("a", "c", 1, "1"), m("b", "a", 2, "2"), m("c", "b", 3, "3")],
    codes: ["forward_reference"],
    texts: ["1", "2", "3"],
  },
  "an entry that is its own parent": {
    lines: [m("a", null, 1, "1"), m("b", "b", 2, "2"), m("c", "b", 3, "3")],
    codes: ["forward_reference"],
    texts: ["1", "2", "3"],
  },
  "a first entry that is its own parent": { lines: [m("a", "a", 1, "1")], codes: ["forward_reference"], texts: ["1"] },
  "a duplicate id": {
    lines: [m("a", null, 1, "1"), m("b", "a", 2, "2"), m("a", "b", 3, "3"), m("d", "a", 4, "4")],
    codes: ["duplicate_id"],
    texts: ["1", "2", "3", "4"],
  },
  "every id the same": {
    lines: [m("a", null, 1, "1"), m("a", "a", 2, "2"), m("a", "a", 3, "3")],
    codes: ["duplicate_id"],
    texts: ["1", "2", "3"],
  },
  "a forward reference": {
    lines: [m("a", null, 1, "1"), m("b", "c", 2, "2"), m("c", "a", 3, "3")],
    codes: ["forward_reference"],
    texts: ["1", "3"],
  },
  "a missing parent": {
    lines: [m("a", null, 1, "1"), m("b", "lost", 2, "2"), m("c", "b", 3, "3")],
    codes: ["missing_parent"],
    texts: ["1", "2", "3"],
  },
  "an unreadable line in the middle": {
    lines: [m("a", null, 1, "1"), "{{{", m("c", "b", 3, "3")],
    codes: ["unparsable_line", "missing_parent"],
    texts: ["1", "3"],
  },
  "a seq that is not the line number": {
    lines: [m("a", null, 7, "1"), m("b", "a", 7, "2")],
    codes: ["seq_mismatch"],
    texts: ["1", "2"],
  },
  "a header in the middle": {
    lines: [m("a", null, 1, "1"), header("intruder"), m("b", "a", 3, "2")],
    codes: ["unparsable_line"],
    texts: ["1", "2"],
  },
  "a tombstone of a later entry": {
    lines: [m("a", null, 1, "1"), entry("tombstone", "t", "a", 2, { targetId: "b" }), m("b", "t", 3, "2")],
    codes: ["forward_reference"],
    texts: ["1", "2"],
  },
  "a tombstone of itself": {
    lines: [m("a", null, 1, "1"), entry("tombstone", "t", "a", 2, { targetId: "t" }), m("b", "t", 3, "2")],
    codes: ["forward_reference"],
    texts: ["1", "2"],
  },
  "a compaction that keeps an entry outside its path": {
    lines: [
      m("a", null, 1, "1"),
      entry("compaction", "k", "a", 2, {
        summary: "s",
        firstKeptEntryId: "lost",
        firstKeptSeq: 1,
        tokensBefore: 1,
        readFiles: [],
        modifiedFiles: [],
      }),
      m("b", "k", 3, "2"),
    ],
    codes: ["missing_first_kept"],
    texts: ["SUMMARY", "2"],
  },
  "a compaction that keeps a later entry": {
    lines: [
      m("a", null, 1, "1"),
      entry("compaction", "k", "a", 2, {
        summary: "s",
        firstKeptEntryId: "b",
        firstKeptSeq: 3,
        tokensBefore: 1,
        readFiles: [],
        modifiedFiles: [],
      }),
      m("b", "k", 3, "2"),
    ],
    codes: ["missing_first_kept"],
    texts: ["SUMMARY", "2"],
  },
  "records with invalid fields": {
    lines: [
      m("a", null, 1, "1"),
      '{"type":"message","id":"b","parentId":"a","seq":2,"timestamp":"x"}',
      '{"type":"message","id":7,"parentId":"a","seq":3,"timestamp":"x","message":{"role":"user","content":[]}}',
      '{"type":"message","id":"d","parentId":{},"seq":4,"timestamp":"x","message":null}',
      '{"type":"compaction","id":"e","parentId":"a","seq":5,"timestamp":"x","summary":7}',
      m("z", "a", 6, "2"),
    ],
    codes: ["invalid_record"],
    texts: ["1", "2"],
  },
  "ids that are property names of Object.prototype": {
    lines: [m("__proto__", null, 1, "1"), m("constructor", "__proto__", 2, "2"), m("toString", "constructor", 3, "3")],
    codes: [],
    texts: ["1", "2", "3"],
  },
}

test.each(Object.keys(DAMAGES))(
  "%s: every command works or reports an error, and the log keeps its bytes",
  async (name) => {
    const { lines, codes, texts } = DAMAGES[name] ?? { lines: [], codes: [], texts: [] }
    const workspace = createWorkspace()
    const content = jsonl(header("odd"), ...lines)
    workspace.writeLog("odd", { from: 0, content })

    const verified = JSON.parse((await workspace.cli("verify", "odd", "--json")).stdout) as {
      damaged: boolean
      reports: { diagnostics: { code: string }[] }[]
    }
    const found = verified.reports.flatMap(({ diagnostics }) => diagnostics.map(({ code }) => code))
    expect(found).toEqual(expect.arrayContaining([...codes]))
    expect(verified.damaged).toBe(codes.length > 0)

    const contextTexts = async (): Promise<string[]> => {
      const { exit, stdout, stderr } = await workspace.cli("context", "odd", "--json", "--repair", "none")
      expect(exit, stderr).toBe(0)
      const { messages } = JSON.parse(stdout) as { messages: never[] }
      return textsOf(messages).map((text) => (text.includes("<summary>") ? "SUMMARY" : text))
    }
    expect(await contextTexts()).toEqual(texts)
    for (const argv of [
      ["show", "odd"],
      ["tree", "odd"],
      ["tree", "odd", "--json"],
      ["list"],
      ["export", "odd"],
      ["export", "odd", "--format", "markdown"],
    ]) {
      const result = await workspace.cli(...argv)
      expect(result.exit, `${argv.join(" ")}: ${result.stderr}`).toBe(0)
    }
    expect(workspace.log("odd").toString()).toBe(content)

    for (const argv of [
      ["fork", "odd", "--id", "forked"],
      ["rename", "odd", "title"],
      ["label", "odd", "a", "name"],
      ["copy", "odd", "--to", "./copies"],
    ]) {
      const result = await workspace.cli(...argv)
      expect(refusalOrSuccess(result), argv.join(" ")).toBeUndefined()
    }
    expect(workspace.log("odd").toString().startsWith(content)).toBe(true)
    expect(await contextTexts()).toEqual(texts)
    expect((await workspace.cli("export", "odd", "--store", "./copies")).stdout.startsWith(content)).toBe(true)
    // Appends at the leaf.
    const sessions = workspace.open()
    const session = await sessions.open("odd")
    await session.append({ type: "message", message: { role: "user", content: "after" } })
    await session.close()
    expect((await contextTexts()).at(-1)).toBe("after")
  },
)

test.each(Object.keys(DAMAGES))("%s: importing the file gives the same context", async (name) => {
  const { lines, texts } = DAMAGES[name] ?? { lines: [], texts: [] }
  const workspace = createWorkspace()
  workspace.file("in.jsonl", jsonl(header("odd"), ...lines))
  expect((await workspace.cli("import", "in.jsonl", "--id", "in")).exit).toBe(0)
  const { messages } = JSON.parse((await workspace.cli("context", "in", "--json", "--repair", "none")).stdout) as {
    messages: never[]
  }
  expect(textsOf(messages).map((text) => (text.includes("<summary>") ? "SUMMARY" : text))).toEqual(texts)
})

test("a pointer to a missing session is ignored", async () => {
  const workspace = createWorkspace()
  workspace.writeLog("keep", { from: 0, content: log("keep") })
  const sessions = workspace.open()
  for (const session of ["gone", "../x", ""]) {
    await sessions.storage.docs.put("pointer.tty", JSON.stringify({ session, cwd: "/project" }), {
      expect: (await sessions.storage.docs.get("pointer.tty"))?.version ?? null,
    })
    const found = await continueRecent(sessions, { cwd: "/project", pointer: "tty" })
    expect(found.id, session).toBe("keep")
    await found.close()
  }
})
