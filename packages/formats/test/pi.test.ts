/** The rules of logs for pi: core reads them as we do, and with `PI_PACKAGE` pi's own code is the judge. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { createSessions, type Session } from "@sessions/core"
import { importSession } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Loss, WriteOptions } from "../src/base/format.ts"
import { pi, piPathOf } from "../src/pi/index.ts"
import { fixture, fixturesOf, testFixturesOfCore } from "./fixtures.ts"
import { call, result, sessionWith } from "./odd-sessions.ts"
import { contextOf, ops, sessionOf, shownBlock } from "./random-session.ts"
import { runs } from "../../../.config/runs.ts"

const packageFolder = process.env["PI_PACKAGE"]
if (packageFolder === undefined)
  console.info("Skipped: pi as the judge. PI_PACKAGE names no folder with @earendil-works/pi-coding-agent 1.6.")

type Line = Readonly<Record<string, unknown>>

async function writtenText(session: Session, o: WriteOptions = {}): Promise<string> {
  let text = ""
  for await (const piece of pi.write({ header: session.header, entries: () => session.entries() }, o)) text += piece
  return text
}

const linesOf = (text: string): readonly Line[] =>
  text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Line)

async function imported(text: string): Promise<Session> {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const source = async function* () {
    yield text
  }
  const { id } = await importSession(sessions, source, { from: "pi" })
  return sessions.open(id)
}

async function newSession(): Promise<Session> {
  return createSessions({ storage: createMemoryStorage() }).create()
}

testFixturesOfCore("pi", "oh-my-pi")

test("a log of pi 4 is refused", async () => {
  await expect(imported(fixture("pi/v4.jsonl"))).rejects.toMatchObject({ code: "newer_version" })
})

const say = (role: "user" | "assistant", value: string) =>
  ({ type: "message", message: { role, content: [{ type: "text", text: value }] } }) as const

test("a written log that core imports has the same context, on the path alone and with all branches", async () => {
  await fc.assert(
    fc.asyncProperty(ops, fc.constantFrom("path" as const, "all" as const), async (list, branches) => {
      const session = await sessionOf(list)
      const again = await imported(await writtenText(session, { branches }))
      // A result without its call is not in the log.
      expect(await contextOf(again, {})).toEqual(await contextOf(session, {}))
    }),
    { numRuns: runs(60) },
  )
})

test.skipIf(packageFolder === undefined)("pi opens a written log with the same context", async () => {
  const entry = join(packageFolder ?? "", "node_modules/@earendil-works/pi-coding-agent/dist/core/")
  const load = async <T>(name: string) => (await import(pathToFileURL(join(entry, name)).href)) as T
  const { SessionManager } = await load<{
    SessionManager: { open(path: string): { buildSessionContext(): { messages: unknown[] } } }
  }>("session-manager.js")
  const { convertToLlm } = await load<{ convertToLlm: (messages: unknown[]) => Message[] }>("messages.js")
  interface Message {
    readonly role: string
    readonly content: string | Parameters<typeof shownBlock>[0][]
  }
  const folder = mkdtempSync(join(tmpdir(), "pi-judge-"))
  try {
    await fc.assert(
      fc.asyncProperty(ops, fc.constantFrom("path" as const, "all" as const), async (list, branches) => {
        const session = await sessionOf(list)
        const file = join(folder, "session.jsonl")
        const text = await writtenText(session, { branches })
        writeFileSync(file, text)
        const sent = convertToLlm(SessionManager.open(file).buildSessionContext().messages)
        const blocks = (content: Message["content"]) =>
          typeof content === "string" ? [content] : content.map(shownBlock)
        const shown = sent.map(({ role, content }) => `${role} ${JSON.stringify(blocks(content))}`)
        // pi closes the frame of a branch's summary without a line feed.
        const expected = (await contextOf(await imported(text))).map((line) =>
          line.replace("B\\n</summary>", "B</summary>"),
        )
        expect(shown).toEqual(expected)
      }),
      { numRuns: runs(100) },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test.each(fixturesOf(["pi"]).filter(({ expected }) => expected.messages !== undefined))(
  "a log of pi that core imported is written with the same context and all branches: $name",
  async ({ golden }) => {
    const session = await imported(golden.text)
    const text = await writtenText(session)
    const again = await imported(text)
    expect(await contextOf(again)).toEqual(await contextOf(session))
    expect(again.header.origin?.id).toBe(session.header.origin?.id)
    const count = async (one: Session) => (await one.messages({ limit: 1000 })).messages.length
    expect(await count(again)).toBe(await count(session))
  },
)

test("every message has the fields that pi reads without a check", async () => {
  const session = await newSession()
  const call = { type: "toolCall", id: "c1", name: "bash", arguments: {} } as const
  await session.append([
    say("user", "hi"),
    {
      type: "message",
      message: { role: "assistant", content: [call], provider: "openai", model: "gpt", usage: { input: 3, cost: 2 } },
    },
    { type: "message", message: { role: "toolResult", toolCallId: "c1", isError: false, content: [] } },
  ])
  const [header, user, assistant, result] = linesOf(await writtenText(session, { id: "i", cwd: "/w" }))
  expect(header).toMatchObject({ type: "session", version: 3, id: "i", cwd: "/w" })
  expect(user?.["message"]).toMatchObject({ role: "user", timestamp: expect.any(Number) as number })
  expect(assistant?.["message"]).toMatchObject({
    api: "openai-responses",
    provider: "openai",
    model: "gpt",
    stopReason: "toolUse",
    usage: { input: 3, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 3, cost: { input: 0, total: 2 } },
  })
  expect(result?.["message"]).toMatchObject({ toolName: "bash" })
})

test("a result behind another message is in the log and reported, since pi sends it and another one; others are not", async () => {
  const session = await newSession()
  const ask = (...ids: readonly string[]) => call(...ids.map((id) => ({ id, command: "" })))
  const { ids } = await session.append([
    say("user", "hi"),
    ask("a", "b"),
    result("b", ""),
    { type: "label", targetId: "x" },
    result("a", ""),
  ])
  await session.append([ask("c"), say("user", "wait"), result("c", ""), say("assistant", "ok"), result("b", "")])
  // On another branch the call is still open.
  await session.append([ask("d"), say("user", "left")])
  await session.append(result("a", ""), { at: ids[1] ?? null })
  const late = async (o: WriteOptions): Promise<number> => {
    let count = 0
    await writtenText(session, { ...o, note: (loss) => void (loss.what === "late" && (count = loss.count)) })
    return count
  }
  expect([await late({ branches: "all" }), await late({ branches: "path" })]).toEqual([2, 0])
  const results = linesOf(await writtenText(session, { branches: "all" })).filter(
    ({ message }) => (message as Line | undefined)?.["role"] === "toolResult",
  )
  expect(results).toHaveLength(5)
})

const CALL = { type: "toolCall", id: "c4", name: "bash", arguments: {} } as const

test("a result of a session of another agent follows the message of its call, and a call has one", async () => {
  const session = await sessionWith(
    say("user", "q"),
    call({ id: "c1", command: "one" }, { id: "c2", command: "two" }),
    call({ id: "c3", command: "three" }),
    result("c3", "out c3"),
    say("user", "wait"),
    result("c2", "out c2"),
    result("c2", "again"),
    call({ id: "c1", command: "with an id that was there" }),
    result("c1", "out c1"),
    { type: "message", message: { role: "assistant", stopReason: "aborted", content: [CALL] } },
    result("c4", "out c4"),
    result("c1", "of no open call"),
  )
  const losses: Loss[] = []
  const lines = linesOf(await writtenText(session, { note: (loss) => losses.push(loss) })).slice(1)
  const shown = lines.map(({ message }) => {
    const { role, toolCallId, content, stopReason } = message as Record<string, unknown>
    const ids = (content as readonly { type: string; id?: string }[]).flatMap(({ type, id }) =>
      type === "toolCall" ? [id] : [],
    )
    return [role, ...(role === "toolResult" ? [toolCallId] : ids), ...(role === "assistant" ? [stopReason] : [])]
  })
  expect(shown).toEqual([
    ["user"],
    ["assistant", "c1", "c2", "toolUse"],
    ["toolResult", "c2"],
    ["assistant", "c3", "toolUse"],
    ["toolResult", "c3"],
    ["user"],
    ["assistant", "c1-2", "toolUse"],
    ["toolResult", "c1-2"],
    ["assistant", "c4", "toolUse"],
    ["toolResult", "c4"],
  ])
  expect(lines.map(({ parentId }) => parentId)).toEqual([null, ...lines.slice(0, -1).map(({ id }) => id)])
  expect(losses.map(({ what, count }) => [what, count])).toEqual([["results", 2]])
})

test("a signature of Anthropic is kept under pi's name, and that of another provider is left out", async () => {
  const session = await newSession()
  const thinking = { type: "thinking", thinking: "hm", signature: "s" } as const
  for (const provider of ["anthropic", "openai"])
    await session.append({ type: "message", message: { role: "assistant", content: [thinking], provider, model: "m" } })
  const losses: Loss[] = []
  const lines = linesOf(await writtenText(session, { note: (loss) => losses.push(loss) }))
  expect(lines.slice(1).map((line) => (line["message"] as { content: unknown }).content)).toEqual([
    [{ type: "thinking", thinking: "hm", thinkingSignature: "s" }],
    [{ type: "thinking", thinking: "hm" }],
  ])
  expect(losses).toMatchObject([{ what: "signatures", count: 1 }])
})

test("what pi does not have is named as a loss, and attached files are in the file as their paths", async () => {
  const session = await newSession()
  await session.append([
    { type: "message", message: { role: "system", content: [{ type: "text", text: "rules" }] } },
    {
      type: "message",
      message: { role: "user", content: [{ type: "file", path: "/a.pdf", mimeType: "application/pdf" }] },
    },
    { type: "message", message: { role: "user", content: [{ type: "acme:x" }] } },
    { type: "metadata", key: "k", value: 1 },
    { type: "mode_change", mode: "plan" },
  ])
  const { id } = { id: (await session.append(say("user", "left"))).ids[0] ?? "" }
  await session.branch(id)
  const losses: Loss[] = []
  const text = await writtenText(session, { note: (loss) => losses.push(loss) })
  expect(text).toContain("[File: /a.pdf]")
  expect(losses.map(({ what }) => what).sort()).toEqual(["annotations", "blocks", "files", "settings", "system"])
})

test("the session's title is pi's name of it, and a user's title wins over a later automatic one", async () => {
  const session = await newSession()
  await session.append(say("user", "hi"))
  await session.title("mine")
  await session.title("theirs", { source: "auto" })
  const names = linesOf(await writtenText(session)).flatMap((line) =>
    line["type"] === "session_info" ? [line["name"]] : [],
  )
  expect(names).toEqual(["mine"])
})

test("a path for pi has the folder of the session and the time in the form that pi gives them", () => {
  expect(piPathOf("id", "/home/me/my.app", "2026-01-02T03:04:05.678Z")).toBe(
    "sessions/--home-me-my.app--/2026-01-02T03-04-05-678Z_id.jsonl",
  )
})
