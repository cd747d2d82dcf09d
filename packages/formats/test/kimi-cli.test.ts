/** The rules of Kimi CLI's contexts. Files are made by hand after the program's sources. */
import { expect, test } from "vitest"
import { encode } from "../src/kimi-cli/codec.ts"
import { KIMI_SESSION, kimiCli } from "../src/kimi-cli/index.ts"
import { fixture, testFixtures } from "./fixtures.ts"
import { type Golden, importText, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"

const context = fixture("kimi-cli/context.jsonl")
const compacted = fixture("kimi-cli/compacted.jsonl")

const event = (timestamp: number, type: string, payload: object): string =>
  `${JSON.stringify({ timestamp, message: { type, payload } })}\n`
const beside = {
  [KIMI_SESSION]: JSON.stringify({ id: "k1", cwd: "/work" }),
  "state.json": JSON.stringify({ version: 1, custom_title: "Pond" }),
  "wire.jsonl": [
    `${JSON.stringify({ type: "metadata", protocol_version: "1.3" })}\n`,
    event(1_790_000_000.5, "TurnBegin", { user_input: "What is in the pond?" }),
    event(1_790_000_001, "StepBegin", { n: 1 }),
    event(1_790_000_060, "TurnBegin", { user_input: [{ type: "text", text: "And this?" }] }),
    event(1_790_000_090, "TurnBegin", { user_input: "What else?" }),
  ].join(""),
}

const goldens: Readonly<Record<string, Golden>> = {
  "a context": { text: context, beside },
  "one after a compaction": { text: compacted, beside },
}
testLaws(kimiCli, goldens, (entries) => restored(entries, encode))
testFixtures(kimiCli)

test("messages have thinking, calls, results and images; what the agent says for a user is synthetic", async () => {
  const { entries } = await importText(kimiCli, { text: context, beside })
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(messages).toMatchObject([
    { role: "user", content: [{ text: "What is in the pond?" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Look first.", signature: "sig" },
        { text: "I look." },
        { id: "t1", name: "Shell", arguments: { command: "ls" } },
        { id: "t2", name: "ReadFile" },
      ],
    },
    { role: "toolResult", toolCallId: "t1", toolName: "Shell", isError: false },
    { role: "toolResult", toolCallId: "t2", toolName: "ReadFile", isError: true },
    { role: "user", synthetic: true },
    { role: "assistant" },
    { role: "user", content: [{ text: "And this?" }, { type: "image" }, { type: "kimi-cli:part" }] },
    { role: "assistant" },
  ])
  expect(messages[6]).not.toHaveProperty("synthetic")
})

test("id, folder, title and times come from the path and from the files beside the context", async () => {
  const { session, entries } = await importText(kimiCli, { text: context, beside })
  expect(session.header).toMatchObject({ cwd: "/work", title: "Pond", origin: { id: "k1" } })
  expect(session.header.timestamp).toBe("2026-09-21T14:13:20.500Z")
  const times = entries.filter(({ type }) => type === "message").map(({ timestamp }) => timestamp)
  expect([times[0], times[1], times[6], times[7]]).toEqual([
    "2026-09-21T14:13:20.500Z",
    "2026-09-21T14:13:20.500Z",
    "2026-09-21T14:14:20.000Z",
    "2026-09-21T14:14:20.000Z",
  ])
})

test("a context that was taken back to a checkpoint continues there, as another branch", async () => {
  const first = await importText(kimiCli, { text: context, beside })
  await first.session.close()
  const lines = context.trim().split("\n")
  const back = `${[...lines.slice(0, 9), '{"role":"user","content":"What else?"}'].join("\n")}\n`
  const { session, entries, added } = await importText(kimiCli, { text: back, beside }, first.sessions)
  expect(added).toBe(true)
  expect(entries.length).toBeGreaterThan(first.entries.length)
  const texts = (await session.context()).messages.map(({ message }) => message.content[0]?.["text"])
  expect(texts.slice(-2)).toEqual(["<system>ERROR: no such file</system>", "What else?"])
  expect(texts).not.toContain("And this?")
})

test("a compacted context takes the place of the one before, which stays in the log", async () => {
  const first = await importText(kimiCli, { text: context, beside })
  await first.session.close()
  const { session, entries } = await importText(kimiCli, { text: compacted, beside }, first.sessions)
  const texts = (await session.context()).messages.map(({ message }) => message.content.at(-1)?.["text"])
  expect(texts).toEqual(["They asked about a pond.", "What else?", "Reeds."])
  expect(entries.find((entry) => entry.type === "message" && entry.message.summary === true)).toBeDefined()
  expect(JSON.stringify(entries)).toContain("Frogs.")
})

test("without the files beside it a context is read, and each import is a session of its own", async () => {
  const { entries, sessions } = await importText(kimiCli, { text: context })
  expect(entries).toHaveLength(14)
  expect((await importText(kimiCli, { text: context }, sessions)).added).toBe(true)
})
