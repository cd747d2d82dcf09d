import { SessionError } from "@sessions/core"
import type { ConsolidationTools } from "@sessions/recall"
import { expect, test } from "vitest"
import { commandAgent } from "./agent.ts"

const TOOLS: ConsolidationTools = {
  listMemory: async () => [],
  readMemory: async () => undefined,
  writeMemory: async () => undefined,
  deleteMemory: async () => undefined,
  listSessions: async () =>
    ["kept", "deleted", "newer"].map((id) => ({ id, at: "2026-11-22T12:00:00.000Z", messages: 1 })),
  readSession: async (id) => {
    if (id === "deleted") throw new SessionError("not_found", "There is no such session.")
    if (id === "newer") throw new SessionError("newer_version", "Its log is of a newer version.")
    return { text: `text of ${id}` }
  },
}

test("a session that was deleted since it was listed, or that cannot be read, is left out, and the phase goes on", async () => {
  const io = { cwd: process.cwd(), env: { PATH: process.env["PATH"] ?? "" } }
  // Answers with the request as a note.
  const run = commandAgent(`sed 's/\\\\/\\\\\\\\/g; s/"/\\\\"/g; s/.*/{"notes":"&"}/'`, io)
  const notes = await run({ phase: "gather", prompt: "", tools: TOOLS, signal: new AbortController().signal })
  expect(JSON.parse(String(notes))).toMatchObject({ sessions: [{ id: "kept", text: "text of kept" }] })
})
