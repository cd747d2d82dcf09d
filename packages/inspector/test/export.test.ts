import { createHash } from "node:crypto"
import { createSessions, type Sessions } from "@sessions/core"
import { exportSession, forkSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { sessionPage } from "../src/index.ts"
import { dataOf, pageOf, textOf } from "./page-data.ts"
import { PNG, sampleSession } from "./sample.ts"

function repository(): Sessions {
  return createSessions({ storage: createMemoryStorage() })
}

test("the page has every entry of every branch, its place in the tree and the stored line", async () => {
  const sessions = repository()
  const { id, ids } = await sampleSession(sessions)
  const { entries, rows, summary } = pageOf(await textOf(sessionPage(sessions, id)), id)
  const lines = (await textOf(exportSession(sessions, id))).trimEnd().split("\n")
  expect(rows.length).toBe(lines.length - 1)
  for (const { seq, id } of rows) {
    const { entry, raw } = entries.get(seq) ?? {}
    expect(entry?.id).toBe(id)
    expect(raw ?? JSON.stringify(entry)).toBe(lines[seq])
  }
  const byId = new Map(rows.map((row) => [row.id, row]))
  expect(rows[byId.get(ids.left)?.parent === undefined ? -1 : (byId.get(ids.left)?.parent ?? 0) - 1]?.id).toBe(
    ids.answer,
  )
  expect(byId.get(ids.answer)?.label).toBe("found")
  expect(rows.filter(({ deleted }) => deleted).map(({ text }) => text)).toEqual(["This was a mistake."])
  expect(rows.find(({ seq }) => seq === summary.leaf)?.id).toBe(ids.last)
  expect(summary.branches.map(({ id, current }) => [id, current])).toEqual([
    [ids.last, true],
    [ids.left, false],
  ])
})

test("a log of more than one block is whole, and every block names its first and last seq", async () => {
  const sessions = repository()
  const session = await sessions.create({ id: "long" })
  const texts = Array.from({ length: 12 }, (_, n) => `${n} ${"x".repeat(60_000)}`)
  for (const content of texts) await session.append({ type: "message", message: { role: "user", content } })
  const html = await textOf(sessionPage(sessions, "long"))
  const blocks = [...html.matchAll(/data-kind="entries" data-from="(\d+)" data-to="(\d+)"/g)]
  expect(blocks.length).toBeGreaterThan(2)
  let next = 1
  for (const [, from, to] of blocks) {
    expect(Number(from)).toBe(next)
    next = Number(to) + 1
  }
  expect(pageOf(html, "long").entries.size).toBe(12)
})

test("a text that moved to the blob store is in the page, and so is its line with the reference", async () => {
  const sessions = createSessions({ storage: createMemoryStorage(), blobs: { textUnits: 1_000, imageChars: 1_000 } })
  const session = await sessions.create({ id: "blobs" })
  const content = "word ".repeat(1_000)
  const { ids } = await session.append({ type: "message", message: { role: "user", content } })
  const { entries } = pageOf(await textOf(sessionPage(sessions, "blobs")), "blobs")
  const { entry, raw } = entries.get(1) ?? {}
  expect(entry).toMatchObject({ id: ids[0], message: { content: [{ text: content }] } })
  expect(raw).toContain("blob:sha256:")
})

test("only the sessions of subagents are added, with those of theirs, each once", async () => {
  const sessions = repository()
  const { id } = await sampleSession(sessions)
  await (await sessions.create({ id: "below", kind: "subagent", parentSession: { id: `${id}-agent` } })).close()
  await (await forkSession(sessions, id, { id: "a-fork" })).close()
  expect([...dataOf(await textOf(sessionPage(sessions, id))).keys()]).toEqual([id])
  const html = await textOf(sessionPage(sessions, id, { subagents: true }))
  expect([...dataOf(html).keys()]).toEqual([id, `${id}-agent`, "below"])
  expect(pageOf(html, id).summary.subagents.map(({ title }) => title)).toEqual(["Look at the tests"])
})

test("the policy runs the script and the style of the page alone, and nothing in a log ends its block", async () => {
  const sessions = repository()
  const session = await sessions.create({ id: "s", title: `</title><script>alert(1)</script>"&` })
  const evil = "</script><!--<script>alert(1)</script>]]>\u2028\ud800"
  await session.append({ type: "message", message: { role: "user", content: evil } })
  const html = await textOf(sessionPage(sessions, "s"))
  const [, policy = ""] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html) ?? []
  expect(policy).toContain("default-src 'none'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
  const elements = [...html.matchAll(/<(script|style)([^>]*)>(.*?)<\/\1>/gs)]
  const run = elements.filter(([, , attributes]) => !attributes?.includes("application/json"))
  expect(run.length).toBe(2)
  for (const [, , , text = ""] of run)
    expect(policy).toContain(`'sha256-${createHash("sha256").update(text).digest("base64")}'`)
  expect(html.includes("<script>alert")).toBe(false)
  expect(html.includes("<!--")).toBe(false)
  expect(pageOf(html, "s").entries.get(1)?.entry).toMatchObject({ message: { content: [{ text: evil }] } })
})

test("redaction reaches every text before it is cut: messages, arguments with their keys, titles, labels, lines", async () => {
  const sessions = repository()
  const secret = "sk-0123456789abcdef"
  const session = await sessions.create({
    id: "s",
    title: `about ${secret}`,
    cwd: `/${secret}`,
    metadata: { key: secret },
  })
  const { ids } = await session.append([
    // The previews are cut within the key.
    { type: "message", message: { role: "user", content: `${"x".repeat(110)} ${secret}` } },
    { type: "message", message: { role: "user", content: `${"x".repeat(190)} ${secret}` } },
    {
      type: "message",
      message: {
        role: "assistant",
        model: secret,
        content: [
          { type: "thinking", thinking: secret },
          { type: "toolCall", id: "c", name: secret, arguments: { [secret]: [{ deep: secret }] } },
          { type: "acme:block", data: { secret } },
        ],
      },
    },
    { type: "message", message: { role: "toolResult", toolCallId: "c", isError: false, content: secret } },
    {
      type: "compaction",
      summary: secret,
      firstKeptEntryId: "none",
      tokensBefore: 1,
      readFiles: [secret],
      modifiedFiles: [],
    },
    { type: "acme:entry", data: secret, more: { [secret]: 1 } },
  ])
  await session.label(ids[0] as string, secret)
  const html = await textOf(
    sessionPage(sessions, "s", { redact: (text) => text.replaceAll(/sk-[0-9a-f]{16}/g, "[key]") }),
  )
  expect(html.includes("sk-0")).toBe(false)
  const { entries, summary } = pageOf(html, "s")
  expect(summary.redacted).toBe(true)
  expect(summary.info.title).toBe("about [key]")
  const call = [...entries.values()].find(({ entry }) => JSON.stringify(entry).includes("toolCall"))?.entry
  expect(call).toMatchObject({
    message: {
      role: "assistant",
      content: [{}, { type: "toolCall", id: "c", name: "[key]", arguments: { "[key]": [{ deep: "[key]" }] } }, {}],
    },
  })
})

test("a redaction that matches structure leaves the tree, the roles and the usage as they are", async () => {
  const sessions = repository()
  const { id } = await sampleSession(sessions)
  const whole = pageOf(await textOf(sessionPage(sessions, id)), id)
  const html = await textOf(sessionPage(sessions, id, { redact: (text) => text.replaceAll(/[a-z]/gi, "x") }))
  const shown = pageOf(html, id)
  const structure = ({ seq, parent, type, role, usage, kept }: (typeof whole.rows)[number]): unknown => [
    seq,
    parent,
    type,
    role,
    usage,
    kept,
  ]
  expect(shown.rows.map(structure)).toEqual(whole.rows.map(structure))
  expect(html.includes(PNG)).toBe(false)
})

test("a line that is no record is shown, but left out where it cannot be redacted", async () => {
  const sessions = repository()
  const { id } = await sampleSession(sessions, "damaged")
  const head = await sessions.storage.head(id)
  await sessions.storage.append(id, ["{ sk-secret"], {
    expect: { log: head?.log as string, next: head?.next as number },
  })
  const seq = head?.next as number
  expect(pageOf(await textOf(sessionPage(sessions, id)), id).summary.damaged).toEqual([{ seq, raw: "{ sk-secret" }])
  const html = await textOf(sessionPage(sessions, id, { redact: (text) => text }))
  expect(pageOf(html, id).summary.damaged).toEqual([{ seq, raw: null }])
  expect(html.includes("sk-secret")).toBe(false)
})

test("usage that no provider reported is missing, and is never 0", async () => {
  const sessions = repository()
  const session = await sessions.create({ id: "s" })
  await session.append([
    { type: "message", message: { role: "assistant", content: "a", model: "m", usage: { input: 5, cost: 0 } } },
    { type: "message", message: { role: "assistant", content: "b", model: "m" } },
  ])
  const { rows } = pageOf(await textOf(sessionPage(sessions, "s")), "s")
  expect(rows.map(({ call, usage }) => [call, usage])).toEqual([
    [true, { input: 5, cost: 0 }],
    [true, undefined],
  ])
})

test("wrong options are `invalid`, a missing session is `not_found`, and nothing is yielded", async () => {
  const sessions = repository()
  const { id } = await sampleSession(sessions)
  for (const options of [{ redact: "x" }, { subagents: 1 }, { rules: [] }])
    await expect(textOf(sessionPage(sessions, id, options as never))).rejects.toMatchObject({ code: "invalid" })
  await expect(textOf(sessionPage(sessions, "none"))).rejects.toMatchObject({ code: "not_found" })
})

test.each([undefined, (text: string) => text])(
  "values nested deeper than a runtime writes are in the page",
  async (redact) => {
    const storage = createMemoryStorage()
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
    const lines = [
      '{"type":"session","format":"@sessions","version":4,"id":"deep","timestamp":"2026-01-31T09:30:00.000Z"}',
      `{"type":"custom","id":"a","parentId":null,"seq":1,"timestamp":"2026-01-31T09:30:00.000Z","customType":"x","data":${deep}}`,
    ]
    await storage.append("deep", lines, { expect: 0 })
    const page = await textOf(sessionPage(createSessions({ storage }), "deep", redact === undefined ? {} : { redact }))
    const { entry } = pageOf(page, "deep").entries.get(1) ?? {}
    expect(JSON.stringify(entry)).toContain('"[[[')
  },
)
