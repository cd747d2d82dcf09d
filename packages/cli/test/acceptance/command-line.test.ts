/** Help, usage errors, JSON, control characters, colours and closed pipes. */
import { spawn } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { runProcess } from "../cli-process.ts"
import { FLAGS } from "../../../../.config/program.ts"
import { header, jsonl, log, message } from "./logs.ts"
import { createWorkspace, refusal, type Workspace } from "./workspace.ts"

const COMMANDS = [
  "import",
  "export",
  "list",
  "show",
  "context",
  "tree",
  "resume",
  "fork",
  "rename",
  "label",
  "move",
  "rm",
  "copy",
  "migrate",
  "verify",
]

async function withSession(content: string = log("keep")): Promise<Workspace> {
  const workspace = createWorkspace()
  workspace.file("in.jsonl", content)
  await workspace.cli("import", "in.jsonl", "--id", "keep")
  return workspace
}

test("the overview lists every command, and --help of a command ignores the other arguments", async () => {
  const workspace = createWorkspace()
  const overview = await workspace.cli("--help")
  expect(overview).toMatchObject({ exit: 0, stderr: "" })
  for (const name of COMMANDS) {
    expect(overview.stdout).toMatch(new RegExp(`\\b${name}\\b`))
    for (const argv of [
      [name, "--help"],
      ["help", name],
      [name, "-h", "a", "b", "c", "d"],
    ]) {
      const result = await workspace.cli(...argv)
      expect(result, argv.join(" ")).toMatchObject({ exit: 0, stderr: "" })
      expect(result.stdout, argv.join(" ")).toContain(`sessions ${name}`)
    }
  }
})

const WRONG: readonly (readonly string[])[] = [
  ["lsit"],
  ["help", "nothing"],
  ["list", "--limit", "0"],
  ["list", "--limit", "201"],
  ["list", "--limit", "1e2"],
  ["list", "--limit", "-1"],
  ["list", "--limit=١"],
  ["list", "--cursor", "nonsense"],
  ["list", "--cursor", ""],
  ["list", "--all", "--cursor", "x"],
  ["list", "keep"],
  ["show"],
  ["show", "keep", "--last", "-1"],
  ["show", "keep", "--last", "ten"],
  ["show", "keep", "--last"],
  ["show", "keep", "--lats", "1"],
  ["show", "keep", "--parts=yes"],
  ["show", "keep", "--store", "ftp:x"],
  ["show", "keep", "--store", "file:"],
  ["show", "keep", "--store", ""],
  ["show", "keep", "--store", "file://other.host/x"],
  ["context", "keep", "--window", "0"],
  ["context", "keep", "--repair", "all"],
  ["export", "keep", "--format", "xml"],
  ["export", "keep", "--json"],
  ["export", "keep", "--format", "markdown", "--self-contained"],
  ["import"],
  ["import", "in.jsonl", "--from", "word"],
  ["rename", "keep"],
  ["rename", "keep", ""],
  ["rename", "keep", " \t"],
  ["rename", "keep", "x", "--clear"],
  ["label", "keep"],
  ["label", "keep", "m1"],
  ["move", "keep"],
  ["resume", "keep"],
  ["resume", "--pointer", "a b"],
  ["copy", "keep"],
  ["copy", "keep", "--to", "ftp:x"],
  ["verify"],
  ["verify", "keep", "--all"],
  ["rm"],
]

test.each(WRONG.map((argv) => [argv.join(" "), argv] as const))(
  "a usage error is one line with exit status 2: %s",
  async (_, argv) => {
    const workspace = await withSession()
    const before = workspace.log("keep")
    expect(refusal(2)(await workspace.cli(...argv))).toBeUndefined()
    expect(workspace.log("keep").equals(before)).toBe(true)
  },
)

test("with --json every command prints one JSON value and nothing else", async () => {
  const workspace = await withSession()
  const calls = [
    ["import", "in.jsonl", "--id", "second"],
    ["list"],
    ["list", "--all"],
    ["show", "keep"],
    ["context", "keep"],
    ["tree", "keep"],
    ["resume", "--create"],
    ["resume", "keep", "--pointer", "tty"],
    ["fork", "keep", "--at", "m2"],
    ["rename", "keep", "title"],
    ["rename", "keep", "--clear"],
    ["label", "keep", "m1", "name"],
    ["label", "keep", "m1", "--clear"],
    ["move", "keep", "/elsewhere"],
    ["rm", "keep", "--entry", "m3"],
    ["copy", "keep", "--to", "./copies"],
    ["migrate", "keep"],
    ["verify", "keep"],
    ["verify", "--all"],
    ["export", "keep", "--out", "out.jsonl"],
    ["rm", "second", "--yes"],
  ]
  expect(COMMANDS.filter((name) => !calls.some(([called]) => called === name))).toEqual([])
  for (const argv of calls) {
    const result = await workspace.cli(...argv, "--json")
    expect(result, argv.join(" ")).toMatchObject({ exit: 0, stderr: "" })
    expect(() => JSON.parse(result.stdout) as unknown, argv.join(" ")).not.toThrow()
  }
})

/** Control characters of terminals. */
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/
const EVIL =
  "\u001b[2J\u001b]8;;http://evil\u0007click\u001b]8;;\u0007\u009b31m\u202eevil\u2066\r\nsecond\u0008\u007f\u0000"

test("stored text and arguments are printed without their control characters", async () => {
  const more = { message: { role: EVIL, content: [{ type: "text", text: EVIL }, { type: EVIL }] } }
  const lines = [
    header("keep", { cwd: `/${EVIL}`, title: EVIL, parentSession: { ref: EVIL } }),
    message("m1", null, 1, EVIL),
    message("m2", "m1", 2, "", more),
    message(`m3${EVIL}`, "m2", 3, EVIL),
    JSON.stringify({ type: EVIL, id: "m4", parentId: "nowhere", seq: 4, timestamp: EVIL }),
    JSON.stringify({ type: "label", id: "m5", parentId: "m4", seq: 5, timestamp: "x", targetId: "m1", label: EVIL }),
    JSON.stringify({
      type: "model_change",
      id: "m6",
      parentId: "m5",
      seq: 6,
      timestamp: "x",
      provider: EVIL,
      model: EVIL,
    }),
  ]
  const workspace = await withSession(jsonl(...lines))
  const calls = [
    ["list"],
    ["list", "--json"],
    ["show", "keep", "--full"],
    ["show", "keep", "--json"],
    ["context", "keep", "--full"],
    ["context", "keep", "--json"],
    ["tree", "keep"],
    ["tree", "keep", "--json"],
    ["verify", "keep"],
    ["verify", "keep", "--json"],
    ["export", "keep", "--format", "markdown"],
    ["rename", "keep", EVIL],
    ["label", "keep", "m1", EVIL],
    ["label", "keep", EVIL, "x"],
    ["move", "keep", EVIL],
    ["show", EVIL],
    ["list", "--cwd", EVIL],
    [EVIL],
    ["show", `--${EVIL}`],
    ["import", EVIL],
    ["list", "--cursor", EVIL],
    ["show", "keep", "--store", EVIL],
    ["resume", "--pointer", EVIL],
  ]
  for (const argv of calls) {
    for (const options of [{}, { terminal: 80, env: { NO_COLOR: "1" } }]) {
      const isData = argv[0] === "export" && !("terminal" in options)
      const { stdout, stderr } = await workspace.cliWith(options, ...argv)
      expect(isData || !UNSAFE.test(stdout), argv.join(" ")).toBe(true)
      expect(UNSAFE.test(stderr), argv.join(" ")).toBe(false)
    }
  }
})

test("colours are printed only on terminals that support them", async () => {
  const workspace = await withSession()
  const list = async (options: object): Promise<string> => (await workspace.cliWith(options, "list")).stdout
  expect(await list({ terminal: 80 })).toContain("\u001b[")
  expect(await list({ terminal: 80, env: { NO_COLOR: "1" } })).not.toContain("\u001b[")
  expect(await list({ terminal: 80, env: { TERM: "dumb" } })).not.toContain("\u001b[")
  expect(await list({})).not.toContain("\u001b[")
})

test.each([
  ["export", "keep"],
  ["show", "keep", "--last", "1000", "--full"],
  ["tree", "keep"],
  ["context", "keep", "--json"],
])("%s into a pipe that is closed after one line is not an error", async (...argv) => {
  const lines = Array.from({ length: 400 }, (_, i) =>
    message(`m${i}`, i === 0 ? null : `m${i - 1}`, i + 1, "x".repeat(1_000)),
  )
  const workspace = await withSession(jsonl(header("keep"), ...lines))
  expect(await runProcess({ cwd: workspace.cwd, stopReading: true }, ...argv)).toMatchObject({ exit: 0, stderr: "" })
})

test("a pipe that is closed before the first line is not an error", async () => {
  const workspace = await withSession()
  const bin = fileURLToPath(new URL("../../dist/bin.js", import.meta.url))
  const { NODE_OPTIONS: _, ...env } = process.env
  const child = spawn(process.execPath, [...FLAGS, bin, "list"], {
    cwd: workspace.cwd,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  })
  child.stdout.destroy()
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  const exit = await new Promise((resolve) => child.on("close", resolve))
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" })
})
