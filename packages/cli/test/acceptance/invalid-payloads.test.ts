/** Entries with fields that do not fit their type, written by hand, by another program or by a future version. */
import { expect, test } from "vitest"
import { header, jsonl, message, TIME } from "./logs.ts"
import { createWorkspace, refusalOrSuccess } from "./workspace.ts"

const TYPES: Readonly<Record<string, readonly string[]>> = {
  message: ["message"],
  custom_message: ["customType", "content", "display", "details"],
  compaction: [
    "summary",
    "firstKeptEntryId",
    "firstKeptSeq",
    "tokensBefore",
    "readFiles",
    "modifiedFiles",
    "state",
    "usage",
  ],
  branch_summary: ["fromId", "summary"],
  context_edit: ["targetId", "targetSeq", "replacement"],
  tombstone: ["targetId", "targetSeq"],
  reset_boundary: [],
  model_change: ["provider", "model", "role"],
  thinking_level_change: ["thinkingLevel"],
  mode_change: ["mode", "data"],
  ttsr_injection: ["injectedRules"],
  session_init: ["systemPrompt", "tools"],
  label: ["targetId", "label"],
  title_change: ["title", "source"],
  metadata: ["key", "value"],
  usage: ["kind", "usage"],
  file_snapshot: ["messageId", "files"],
  leaf: ["targetSeq"],
  custom: ["customType", "data"],
}

const VALUES: readonly unknown[] = [
  undefined,
  null,
  7,
  -1,
  "text",
  "",
  [],
  [null],
  [7, "x"],
  {},
  { content: 7 },
  true,
  { role: 7 },
]

const MESSAGES: readonly unknown[] = [
  null,
  [],
  {},
  { role: 7, content: [] },
  { role: "user" },
  { role: "user", content: "bare" },
  { role: "user", content: null },
  { role: "user", content: [null, 7, "x", [], {}, { type: 7 }, { type: "text" }, { type: "text", text: 7 }] },
  { role: "user", content: [{ type: "image" }, { type: "image", data: 7 }, { type: "image", data: "x".repeat(2000) }] },
  { role: "assistant", content: [{ type: "toolCall" }, { type: "toolCall", id: 7, name: null, arguments: "x" }] },
  { role: "assistant", content: [], usage: 7 },
  { role: "assistant", content: [], usage: { input: "many", cost: { total: "x" }, output: -1 } },
  { role: "assistant", content: [], provider: 7, model: {} },
  { role: "toolResult", content: [] },
  { role: "toolResult", content: [], toolCallId: 7, isError: "no" },
  { role: "bashExecution", command: 7, output: {} },
  { role: "bashExecution" },
  { role: "__proto__", content: [] },
]

function payloadsOf(type: string): object[] {
  const fields = TYPES[type] ?? []
  const payloads = [
    {},
    ...fields.flatMap((field) => VALUES.map((value) => ({ [field]: value }))),
    ...VALUES.map((value) => Object.fromEntries(fields.map((field) => [field, value]))),
    ...(type === "message" ? MESSAGES.map((one) => ({ message: one })) : []),
    { blobs: 7 },
    { blobs: { "/message/content/0/text": "utf8", "/__proto__/x": "base64", "": 7 } },
  ]
  return payloads.map((payload) => ({ type, ...payload }))
}

function linesOf(types: readonly string[]): string[] {
  return types.flatMap(payloadsOf).map((payload, index) => {
    const base = {
      id: `e${index + 2}`,
      parentId: index === 0 ? "first" : `e${index + 1}`,
      seq: index + 2,
      timestamp: TIME,
    }
    return JSON.stringify({ ...base, ...payload })
  })
}

/** Of these an exit of 1 is an answer: damage, or no match. */
const MAY_EXIT_1 = new Set(["verify", "grep"])

const COMMANDS: readonly (readonly string[])[] = [
  ["show", "odd", "--last", "500"],
  ["show", "odd", "--json"],
  ["context", "odd"],
  ["context", "odd", "--full", "--repair", "drop"],
  ["context", "odd", "--json", "--repair", "none"],
  ["tree", "odd"],
  ["tree", "odd", "--json"],
  ["list", "--json"],
  ["grep", "x", "--no-index"],
  ["memory", "extract", "odd", "--model", "echo []"],
  ["export", "odd"],
  ["export", "odd", "--self-contained"],
  ["export", "odd", "--format", "markdown"],
  ["verify", "odd"],
  ["verify", "--all", "--json"],
  ["fork", "odd", "--id", "forked"],
  ["copy", "odd", "--to", "./copies"],
  ["rename", "odd", "title"],
  ["label", "odd", "first", "name"],
  ["rm", "odd", "--entry", "first"],
]

/** Types whose entries may hide others from the context, or be hidden. */
const ALONE = ["message", "compaction", "reset_boundary", "leaf", "tombstone"]
const OTHERS = Object.keys(TYPES).filter((type) => !ALONE.includes(type))

/** The types of each log. */
const GROUPS = [
  ...ALONE.map((type) => [type]),
  ...Array.from({ length: Math.ceil(OTHERS.length / 5) }, (_, n) => OTHERS.slice(5 * n, 5 * n + 5)),
].map((types) => [types.join(", "), types] as const)

test.each(GROUPS)("entries of the types %s with any payload make no command fail", async (_, types) => {
  const workspace = createWorkspace()
  const lines = linesOf(types)
  const last = message("last", `e${lines.length + 1}`, lines.length + 2, "the end")
  const content = jsonl(header("odd"), message("first", null, 1, "the start"), ...lines, last)
  workspace.writeLog("odd", { from: 0, content })
  const failures: string[] = []
  for (const argv of COMMANDS) {
    const { exit, stderr } = await workspace.cli(...argv)
    if (stderr !== "" || exit > (MAY_EXIT_1.has(argv[0] ?? "") ? 1 : 0)) failures.push(`${argv.join(" ")}: ${stderr}`)
  }
  expect(failures).toEqual([])
  expect(workspace.log("odd").toString().startsWith(content)).toBe(true)
  expect((await workspace.cli("context", "forked")).stdout).toContain("the end")
  workspace.file("odd.jsonl", content)
  expect(await workspace.cli("import", "odd.jsonl", "--id", "imported")).toMatchObject({ exit: 0 })
})

test.each([undefined, null, 7, "x", [], {}, true])(
  "a header with all fields set to %j makes no command fail unexpectedly",
  async (value) => {
    const workspace = createWorkspace()
    const names = [
      "id",
      "timestamp",
      "cwd",
      "title",
      "source",
      "cronJobId",
      "parentSession",
      "systemPromptOverride",
      "origin",
    ]
    const first = header("odd", Object.fromEntries(names.map((name) => [name, value])))
    const content = jsonl(first, message("first", null, 1, "the start"))
    workspace.writeLog("odd", { from: 0, content })
    const failures: string[] = []
    for (const argv of COMMANDS) {
      const result = await workspace.cli(...argv)
      const isReport = MAY_EXIT_1.has(argv[0] ?? "") && result.stderr === ""
      const problem = isReport ? undefined : refusalOrSuccess(result)
      if (problem !== undefined) failures.push(`${argv.join(" ")}: ${problem}`)
    }
    expect(failures).toEqual([])
    expect(workspace.log("odd").toString().startsWith(content)).toBe(true)
  },
)
