/** Writes the same log to memory and to files, and prints the hashes of their exports. Runs on every runtime. */
import { createHash } from "node:crypto"
import { createSessions, type NewEntry } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { exportSession } from "@sessions/core/transfer"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "@sessions/memory"

const [root = ""] = process.argv.slice(2)
const START = Date.parse("2026-01-02T03:04:05.678Z")

const ENTRIES: readonly NewEntry[] = [
  {
    id: "e1",
    type: "message",
    message: { role: "user", content: "line\u2028separator, \ud83d\ude00, lone \ud800, \0\u001b" },
  },
  { id: "e2", type: "model_change", provider: "p", model: "m" },
  {
    id: "e3",
    type: "message",
    message: {
      role: "assistant",
      content: [
        {
          type: "toolCall",
          id: "c",
          name: "t",
          arguments: { "10": 1, "9": 2, n: 1e21, tiny: 5e-324, z: -0, big: 2 ** 53 },
        },
      ],
      usage: { input: 1.5, output: 0.1 + 0.2 },
    },
  },
  {
    id: "e4",
    type: "message",
    message: { role: "toolResult", toolCallId: "c", isError: false, content: "é".repeat(600_000) },
  },
  {
    id: "e5",
    type: "message",
    message: { role: "user", content: [{ type: "image", mimeType: "image/png", data: "AAEC".repeat(2_000) }] },
  },
  {
    id: "e6",
    type: "custom",
    customType: "x",
    data: { undefined: undefined, nested: [[[{}]]], date: new Date(START) },
  },
  { id: "e7", type: "acme:tomorrow", payload: true },
]

async function exportsOf(storage: SessionStorage): Promise<Record<string, string>> {
  let now = START
  const sessions = createSessions({ storage, now: () => (now += 1_000), extensions: { entries: ["tomorrow"] } })
  const session = await sessions.create({ id: "same", cwd: "/p", title: "t" })
  const { creation } = session.header
  for (const entry of ENTRIES) await session.append(entry)
  await session.append([
    { id: "e8", type: "label", targetId: "e3", label: "l" },
    { id: "e9", type: "metadata", key: "k", value: [null] },
  ])
  await session.close()
  const hashes: Record<string, string> = {}
  for (const [name, options] of Object.entries({
    log: {},
    alone: { selfContained: true },
    markdown: { format: "markdown" } as const,
  })) {
    const hash = createHash("sha256")
    // Each creation has another value.
    for await (const chunk of exportSession(sessions, "same", options))
      hash.update(chunk.replace(`${creation}`, "creation"))
    hashes[name] = hash.digest("hex")
  }
  const context = await (await sessions.open("same")).context()
  hashes["context"] = createHash("sha256").update(JSON.stringify(context)).digest("hex")
  const { updatedAt: _, parts, ...info } = await sessions.info("same")
  hashes["info"] = JSON.stringify({ ...info, parts: parts.map(({ from, bytes }) => ({ from, bytes })) })
  await sessions.close()
  return hashes
}

process.stdout.write(
  JSON.stringify([await exportsOf(createMemoryStorage()), await exportsOf(createFileStorage({ root }))]),
)
