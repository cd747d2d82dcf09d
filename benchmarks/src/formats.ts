/** Imports a session file of Claude Code of 150 MB: its importer alone, and into a store on files. */
import { createWriteStream } from "node:fs"
import { once } from "node:events"
import { join } from "node:path"
import { inNewProcess } from "./child.ts"
import type { ImportTimes } from "./children/formats.ts"
import { withFolder } from "./folder.ts"
import { type Result, type Scenario, timed } from "./report.ts"
import { ROUNDS } from "./rounds.ts"

export function formatScenarios(quick: boolean): readonly Scenario[] {
  const bytes = quick ? 15e6 : 150e6
  const rounds = quick ? 3 : ROUNDS
  return [
    { id: "formats.claude-code.read", run: () => measure("formats.claude-code.read", "read", bytes, rounds) },
    { id: "formats.claude-code.import", run: () => measure("formats.claude-code.import", "import", bytes, rounds) },
  ]
}

function measure(id: string, how: "read" | "import", bytes: number, rounds: number): Promise<Result> {
  return withFolder(async (folder) => {
    const file = join(folder, "session.jsonl")
    await writeSession(file, bytes)
    const { ours, raw } = await inNewProcess<ImportTimes>("formats", [file, how, String(rounds)])
    // Peak memory is taken from a process that imports once.
    const alone = await inNewProcess<ImportTimes>("formats", [file, how, "0"])
    const memory = alone.peakMB === undefined ? {} : { peakMB: alone.peakMB }
    return { ...timed(id, "ms", { ours, raw }), work: { entries: alone.entries, ...memory } }
  })
}

/** Turns of a prompt, thinking and a call, its result with the agent's copy of it, and an answer: six lines of about 8 KB together. */
async function writeSession(file: string, bytes: number): Promise<void> {
  const stream = createWriteStream(file)
  let written = 0
  for (let turn = 0; written < bytes; turn++) {
    const text = linesOf(turn)
    written += text.length
    if (!stream.write(text)) await once(stream, "drain")
  }
  stream.end()
  await once(stream, "finish")
}

function linesOf(turn: number): string {
  const uuid = (n: number): string => `00000000-0000-4000-8000-${String(turn * 10 + n).padStart(12, "0")}`
  const timestamp = new Date(Date.parse("2026-01-01T00:00:00.000Z") + turn * 60_000).toISOString()
  const line = (n: number, type: string, fields: object): object => ({
    parentUuid:
      turn === 0 && n === 0
        ? null
        : n === 0
          ? `00000000-0000-4000-8000-${String(turn * 10 - 6).padStart(12, "0")}`
          : uuid(n - 1),
    isSidechain: false,
    ...fields,
    type,
    uuid: uuid(n),
    timestamp,
    userType: "external",
    entrypoint: "cli",
    cwd: "/home/dev/project",
    sessionId: "11111111-1111-4111-8111-111111111111",
    version: "2.1.330",
    gitBranch: "main",
  })
  const assistant = (n: number, id: string, content: object, stop: string): object =>
    line(n, "assistant", {
      requestId: `req_${turn}_${id}`,
      message: {
        id: `msg_${turn}_${id}`,
        type: "message",
        role: "assistant",
        model: "claude-opus-5-5",
        content: [content],
        stop_reason: stop,
        stop_sequence: null,
        usage: { input_tokens: 12, cache_read_input_tokens: 40_000, output_tokens: 200 + n, service_tier: "standard" },
      },
    })
  const output = `line ${turn} of a file that the agent reads\n`.repeat(50)
  const lines = [
    line(0, "user", { message: { role: "user", content: `question ${turn}: ${"why is this so? ".repeat(20)}` } }),
    assistant(
      1,
      "a",
      { type: "thinking", thinking: "consider it. ".repeat(30), signature: "c2ln".repeat(60) },
      "tool_use",
    ),
    assistant(
      2,
      "a",
      { type: "tool_use", id: `toolu_${turn}`, name: "Read", input: { file_path: "/src/a.ts" } },
      "tool_use",
    ),
    line(3, "user", {
      message: { role: "user", content: [{ type: "tool_result", tool_use_id: `toolu_${turn}`, content: output }] },
      toolUseResult: { type: "text", file: { filePath: "/src/a.ts", content: output.slice(0, 1000), numLines: 50 } },
    }),
    assistant(4, "b", { type: "text", text: `answer ${turn}: ${"because of that. ".repeat(40)}` }, "end_turn"),
    {
      type: "last-prompt",
      lastPrompt: `question ${turn}`,
      leafUuid: uuid(4),
      sessionId: "11111111-1111-4111-8111-111111111111",
    },
  ]
  return lines.map((one) => `${JSON.stringify(one)}\n`).join("")
}
