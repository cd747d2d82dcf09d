import { expect, test } from "vitest"
import { codeOf, linesIn, sessionsIn, smallBatches, textOf } from "../../../test/transfer.ts"
import { soon } from "../../../test/soon.ts"
import { user } from "../../../test/writers.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { Hooks } from "../../session/hooks.ts"
import { continueRecent, exportSession, forkSession, importSession } from "../index.ts"

const HEADER = '{"type":"session","format":"@sessions","version":4,"id":"was","timestamp":"2026-01-31T09:30:00.000Z"}'
const SECRET = "tok_12345"

function line(seq: number, text: string): string {
  const parentId = seq === 1 ? null : `e${seq - 1}`
  const message = { role: "user", content: [{ type: "text", text }] }
  const base = { type: "message", id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z" }
  return JSON.stringify({ ...base, message }).replace(/\}$/, ',"big":12345678901234567890}')
}

/** Removes the secret from every text; counts the calls. */
function redacting() {
  const asked: string[] = []
  const append: Hooks["append"] = (entry) => {
    asked.push((entry as { id: string }).id)
    const text = JSON.stringify(entry)
    return text.includes(SECRET) ? (JSON.parse(text.replaceAll(SECRET, "[redacted]")) as NewEntry) : undefined
  }
  return { asked, hooks: { append } satisfies Hooks }
}

const OLDER = `{"type":"session","version":3,"id":"p","timestamp":"2026-01-31T09:30:00.000Z","cwd":"/"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-31T09:30:00.000Z","message":{"role":"user","content":"my ${SECRET}"}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-31T09:30:01.000Z","message":{"role":"user","content":"fine"}}
`

test("append hooks change imported entries like appended ones; other lines stay as they are written", async () => {
  const { asked, hooks } = redacting()
  const sessions = sessionsIn(undefined, { hooks })
  const lines = [line(1, "fine"), line(2, `my ${SECRET}`), "not an entry", line(4, "fine too").replace('"e3"', '"e2"')]
  await importSession(sessions, `${[HEADER, ...lines].join("\n")}\n`, { id: "new" })
  const stored = await linesIn(sessions.storage, "new")
  expect(stored.join("\n")).not.toContain(SECRET)
  expect([stored[1], stored[3], stored[4]]).toEqual([lines[0], lines[2], lines[3]])
  expect(JSON.parse(stored[2] as string)).toMatchObject({ id: "e2", parentId: "e1", seq: 2 })
  expect(asked).toEqual(["e1", "e2", "e4"])
})

test("append hooks also change the log of another program", async () => {
  const { hooks } = redacting()
  const sessions = sessionsIn(undefined, { hooks })
  await importSession(sessions, OLDER, { id: "new" })
  expect((await linesIn(sessions.storage, "new")).join("\n")).not.toContain(SECRET)
  const { messages } = await (await sessions.open("new")).context()
  expect(messages.map(({ entryId }) => entryId)).toEqual(["a", "b"])
})

test("hooks see the content of blobs, and their result is stored as an append stores it", async () => {
  const { hooks } = redacting()
  const limits = { blobs: { textUnits: 100 } }
  const plain = sessionsIn(undefined, limits)
  const long = `${"x".repeat(200)} ${SECRET}`
  await (await plain.create({ id: "s" })).append(user(long))
  const text = await textOf(exportSession(plain, "s"))
  const sessions = sessionsIn(plain.storage, { ...limits, hooks })
  await importSession(sessions, text, { id: "new", blobs: "any" })
  const [, stored] = await linesIn(sessions.storage, "new")
  expect(stored).toContain('"blobs":')
  const { messages } = await (await sessions.open("new")).context()
  expect(messages[0]?.message.content).toEqual([{ type: "text", text: long.replace(SECRET, "[redacted]") }])
})

test("a hook that rejects an entry rejects the import, before anything is written", async () => {
  const append: Hooks["append"] = (entry) => {
    if (JSON.stringify(entry).includes(SECRET)) throw Object.assign(new Error("no secrets"), { code: "refused" })
  }
  const sessions = sessionsIn(smallBatches(), { hooks: { append } })
  const lines = Array.from({ length: 30 }, (_, index) => line(index + 1, index === 29 ? SECRET : "x".repeat(100)))
  expect(await codeOf(importSession(sessions, `${[HEADER, ...lines].join("\n")}\n`, { id: "new" }))).toBe("refused")
  expect(await sessions.storage.head("new")).toBeUndefined()
})

test("a hook must return an entry", async () => {
  const append: Hooks["append"] = () => ({ type: "message", message: { role: 7 } }) as never
  const sessions = sessionsIn(undefined, { hooks: { append } })
  expect(await codeOf(importSession(sessions, `${HEADER}\n${line(1, "a")}\n`, { id: "new" }))).toBe("invalid")
  expect(await sessions.storage.head("new")).toBeUndefined()
})

test("the create hook runs once for every new session, when it is complete", async () => {
  const seen: string[] = []
  const storage = smallBatches()
  const create: Hooks["create"] = ({ session, header }) => void seen.push(`${session} ${header.id} ${header.cwd ?? ""}`)
  const sessions = sessionsIn(storage, { hooks: { create } })
  await sessions.create({ id: "made", cwd: "/a" })
  await sessions.openOrCreate("opened")
  await sessions.openOrCreate("opened")
  await forkSession(sessions, "made", { id: "fork" })
  const recent = await continueRecent(sessions, { cwd: "/new" })
  const text = `${[HEADER, ...Array.from({ length: 20 }, (_, n) => line(n + 1, "x".repeat(100)))].join("\n")}\n`
  const abort = new AbortController()
  const cut = importSession(sessions, text, { id: "import", signal: abort.signal, onProgress: () => abort.abort() })
  expect(await codeOf(cut)).toBe("aborted")
  expect(seen).toEqual(["made made /a", "opened opened ", "fork fork /a", `${recent.id} ${recent.id} /new`])
  await importSession(sessions, text, { id: "import" })
  expect(seen.at(-1)).toBe("import import ")
  expect(await codeOf(importSession(sessions, text, { id: "import" }))).toBe("exists")
  expect(seen).toHaveLength(5)
})

test("an abort ends an import whose hook hangs, and nothing is written", async () => {
  const stop = new AbortController()
  const append = (): Promise<undefined> => (stop.abort(), new Promise(() => undefined))
  const sessions = sessionsIn(undefined, { hooks: { append } })
  const imported = importSession(sessions, `${HEADER}\n${line(1, "fine")}\n`, { id: "new", signal: stop.signal })
  expect(await soon(codeOf(imported))).toBe("aborted")
  expect(await sessions.storage.head("new")).toBeUndefined()
})
