import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSqliteHistory } from "@sessions/history/sqlite"
import { afterAll, beforeAll, expect, test } from "vitest"
import { createCli } from "../../test/harness.ts"
import { COMMANDS } from "../commands/table.ts"

/** Sets the window's title, clears the screen, writes the clipboard (OSC 52), in 7 and 8 bits, and reverses the direction of writing. */
const ATTACK = "\u001b]0;title\u0007\u001b[2J\u001b]52;c;eA==\u0007\r\u009b31m\u009d52;c;eA==\u009c\b\u007f\u202e"
const CONTROL = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

const AT = "2026-01-01T00:00:00.000Z"
const entry = (id: string, seq: number, fields: object): string =>
  JSON.stringify({ id, parentId: seq === 1 ? null : `M${seq - 1}${ATTACK}`, seq, timestamp: AT, ...fields })
const message = (content: unknown, fields: object = {}): object => ({
  type: "message",
  message: { role: "user", content, ...fields },
})

/** A log with the attack in every kind of field, in names of fields, and in a line that is no JSON. */
const LOG = [
  JSON.stringify({ type: "session", format: "@sessions", version: 4, id: "h", timestamp: AT, cwd: `/p${ATTACK}` }),
  entry(`M1${ATTACK}`, 1, message(`one ${ATTACK}`)),
  entry(`M2${ATTACK}`, 2, message([{ type: "text", text: ATTACK }], { role: "assistant", model: ATTACK })),
  entry(`M3${ATTACK}`, 3, message([{ type: `block${ATTACK}` }], { role: `role${ATTACK}` })),
  entry(`M4${ATTACK}`, 4, { type: `type${ATTACK}`, [ATTACK]: ATTACK }),
  entry(`M5${ATTACK}`, 5, { type: "title_change", title: `title${ATTACK}` }),
  entry(`M6${ATTACK}`, 6, { type: "label", targetId: `M2${ATTACK}`, label: `label${ATTACK}` }),
  entry(`M7${ATTACK}`, 7, { type: "metadata", key: `key${ATTACK}`, value: ATTACK }),
  entry(`M8${ATTACK}`, 8, { type: "custom", customType: ATTACK, data: ATTACK }),
  `half a line ${ATTACK}`,
  `{"type":"message","id":"${ATTACK}"`,
]

/** A prompt history with the attack. */
const folder = mkdtempSync(join(tmpdir(), "sessions-cli-hostile-"))
const file = join(folder, "history.db")

beforeAll(async () => {
  const history = createSqliteHistory({ path: file })
  history.add(`prompt${ATTACK}`, { cwd: `/p${ATTACK}` })
  await history.close()
})
afterAll(() => rmSync(folder, { recursive: true }))

const RUNS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  import: [["-"]],
  export: [["h"], ["h", "--format", "markdown"], ["h", "--self-contained"], ["h", "--format", "html"]],
  discover: [[], ["--files"]],
  handoff: [["h", "--to", "claude-code", "--dry-run"]],
  list: [[], ["--all"]],
  grep: [
    ["one", "--no-index"],
    [ATTACK, "title", "--no-index"],
    ["one", "--no-index", "--role", ATTACK, "--cwd", ATTACK],
  ],
  history: [
    ["--file", file],
    ["--file", file, `prompt${ATTACK}`],
    ["--file", file, "absent"],
    ["--file", `${file}${ATTACK}`],
  ],
  show: [["h"], ["h", "--last", "100"]],
  // Its output is an address; what it serves goes to a browser.
  serve: [
    ["--token-file", `none${ATTACK}`],
    ["--port", ATTACK],
  ],
  context: [["h"], ["h", "--full"], ["h", "--window", "1000", "--prune"]],
  tree: [["h"]],
  branches: [["h"], ["h", "--open"]],
  branch: [
    ["h", `M1${ATTACK}`],
    ["h", `M2${ATTACK}`, "--settle"],
    ["h", ATTACK],
  ],
  checkpoints: [["h"]],
  rewind: [
    ["h", `M1${ATTACK}`, "--dry-run"],
    ["h", `M1${ATTACK}`, "--yes"],
  ],
  memory: [["show"], ["extract", "h", "--model", "echo '[1, {}]'"], ["clear"]],
  compact: [["h", "--summarizer", "cat", "--keep-recent-tokens", "0"]],
  resume: [
    ["h", "--pointer", "one"],
    ["--pointer", "one"],
  ],
  fork: [["h"], ["h", "--at", `M2${ATTACK}`], ["h", "--at", "absent"]],
  rename: [["h", `new${ATTACK}`]],
  label: [
    ["h", `M1${ATTACK}`, `new${ATTACK}`],
    ["h", ATTACK, "new"],
  ],
  move: [["h", `/q${ATTACK}`]],
  retention: [["--older-than", "1h", "--dry-run"]],
  gc: [["--dry-run"]],
  rm: [["h"]],
  copy: [["h", "--to", "mem:other"]],
  merge: [["h", "--with", "mem:other"]],
  migrate: [["h"]],
  verify: [["h"], ["--all"]],
  doctor: [[]],
}

test.each(COMMANDS)("$name prints no control character of a log on a terminal", async ({ name }) => {
  const runs = RUNS[name] ?? []
  expect(runs).not.toEqual([])
  for (const args of runs)
    for (const json of name === "export" ? [[]] : [[], ["--json"]]) {
      // While the clock does not advance, no progress is shown, which has escape sequences of its own.
      const terminal = { terminal: 100, env: { NO_COLOR: "1", SESSIONS_DEBUG: "1" }, now: () => 0 }
      const cli = createCli({ ...terminal, stdin: `${LOG.join("\n")}\n`, cwd: "/" })
      await cli.use(({ storage }) => storage.append("h", LOG, { expect: 0 }))
      const { stdout, stderr } = await cli(name, ...args, ...json)
      expect(stdout + stderr, `${name} ${args.join(" ")}`).not.toBe("")
      expect(stdout, `${name} ${args.join(" ")}`).not.toMatch(CONTROL)
      expect(stderr, `${name} ${args.join(" ")}`).not.toMatch(CONTROL)
    }
})

test("export prints a damaged line unchanged into a pipe", async () => {
  const cli = createCli()
  await cli.use(({ storage }) => storage.append("h", LOG, { expect: 0 }))
  expect((await cli("export", "h")).stdout).toBe(`${LOG.join("\n")}\n`)
})
