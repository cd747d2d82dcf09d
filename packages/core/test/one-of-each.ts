/** A log with an entry of each type and a message of each role, in each version, for tests that damage one value. */

type Json = Record<string, unknown>

const TIME = "2026-03-01T09:00:02.000Z"
const STATE = {
  thinkingLevel: "off",
  models: { default: { provider: "p", model: "m" } },
  modelIsExplicit: true,
  mode: "none",
  injectedTtsrRules: ["r"],
}
const USAGE = { input: 5, output: 7, cost: { total: 0.1 } }
const HASH = "a".repeat(64)

const call = (id: string, name: string, args: unknown): Json => ({ type: "toolCall", id, name, arguments: args })
const message = (role: string, more: Json): Json => ({ type: "message", message: { role, ...more } })
const text = (words: string): Json[] => [{ type: "text", text: words }]

/** Each names the entry before it as its parent. `@n` in a field is the id of entry n. */
const PAYLOADS: readonly Json[] = [
  message("system", { content: text("Be brief.") }),
  message("user", {
    content: [...text("hello"), { type: "image", data: `blob:sha256:${HASH}`, mimeType: "image/png" }],
    attachments: [{ path: "a.txt", mimeType: "text/plain", filename: "a", size: 3 }],
  }),
  message("assistant", {
    content: [
      { type: "thinking", thinking: "hm", signature: "s" },
      ...text("reading"),
      call("c1", "read", { path: "a.ts" }),
      call("c2", "write", { path: "b.ts" }),
    ],
    provider: "p",
    model: "m",
    usage: USAGE,
    stopReason: "toolUse",
  }),
  message("toolResult", { toolCallId: "c1", toolName: "read", isError: false, content: text("x".repeat(3_000)) }),
  message("toolResult", { toolCallId: "c2", toolName: "write", isError: true, content: text("done") }),
  message("bashExecution", {
    command: "ls",
    output: "a",
    exitCode: 1,
    cancelled: false,
    truncated: true,
    fullOutputPath: "/tmp/x",
  }),
  message("pythonExecution", { code: "1", output: "1", excludeFromContext: false }),
  message("user", { content: [{ type: "file", path: "a.txt", mimeType: "text/plain" }], blobs: {} }),
  { type: "model_change", provider: "p", model: "m2", role: "default" },
  { type: "thinking_level_change", thinkingLevel: "high" },
  { type: "mode_change", mode: "plan", data: { a: 1 } },
  { type: "ttsr_injection", injectedRules: ["rule"] },
  { type: "session_init", systemPrompt: "p", task: "t", tools: [{ name: "x" }], outputSchema: {} },
  { type: "label", targetId: "@1", targetSeq: 1, label: "first" },
  { type: "title_change", title: "A title", source: "user" },
  { type: "metadata", key: "cwd", value: "/home" },
  { type: "usage", kind: "title", provider: "p", model: "m", usage: USAGE },
  { type: "file_snapshot", messageId: "@2", files: { "/a": { blob: `sha256:${HASH}`, version: 1 } } },
  { type: "custom", customType: "x", data: { deep: [1] } },
  { type: "custom_message", customType: "note", content: text("noted"), display: true, details: { a: 1 } },
  {
    type: "compaction",
    summary: "So far.\n\n<read-files>\na.ts\n</read-files>",
    shortSummary: "so",
    firstKeptEntryId: "@6",
    firstKeptSeq: 6,
    tokensBefore: 50,
    summaryAs: "pair",
    readFiles: ["a.ts"],
    modifiedFiles: ["b.ts"],
    details: {},
    usage: USAGE,
    state: STATE,
  },
  message("user", { content: text("go on") }),
  { type: "context_edit", targetId: "@22", targetSeq: 22, replacement: { content: text("go on, please") } },
  message("assistant", { content: text("aside"), provider: "p", model: "m" }),
  { type: "tombstone", targetId: "@24", targetSeq: 24 },
  { type: "leaf", targetSeq: 22, settles: ["@24"], parentId: "@22" },
  {
    type: "branch_summary",
    fromId: "@24",
    summary: "left",
    details: { readFiles: ["c.ts"] },
    usage: USAGE,
    settles: [],
  },
  message("assistant", { content: [...text("here"), call("c3", "bash", { command: "ls" })], stopReason: "aborted" }),
  message("user", { content: text("and now?") }),
]

const idOf = (seq: number): string => `01K8ZQ4Y9G0000000000000${String(seq).padStart(3, "0")}`

/** The records of a log of this version, the header first. Entries of version 1 have no ids. */
export function oneOfEach(version: 1 | 2 | 3 | 4): readonly Json[] {
  const header = {
    type: "session",
    ...(version === 4 ? { format: "@sessions" } : {}),
    version,
    id: "s",
    timestamp: TIME,
    cwd: "/home",
    title: "t",
    ...(version === 4 ? { parentSession: { id: "q", entryId: "e" }, systemPromptOverride: "P" } : {}),
    ...(version === 4 ? { origin: { format: "pi", version: 3, lines: 5, backup: { blobs: [HASH], bytes: 1 } } } : {}),
  }
  const entries = PAYLOADS.map(({ type, parentId, ...rest }, index) => {
    const seq = index + 1
    const own = version === 1 ? {} : { id: idOf(seq), parentId: parentId ?? (seq === 1 ? null : idOf(index)) }
    return named({ type, ...own, ...(version === 4 ? { seq } : {}), timestamp: TIME, ...rest }) as Json
  })
  return [header, ...entries]
}

/** With ids in place of `@n`. */
function named(value: unknown): unknown {
  if (typeof value === "string") return /^@\d+$/.test(value) ? idOf(Number(value.slice(1))) : value
  if (Array.isArray(value)) return value.map(named)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, named(one)]))
}
