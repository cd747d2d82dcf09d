/** Runs the script with its documented permissions, and with one of them missing. */
import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../main.ts", import.meta.url))
/** The permissions that `main.ts` and `docs/adapters.md` document. */
const [READ, WRITE] = ["--allow-read=.sessions", "--allow-write=.sessions"]

interface Result {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the script in a new process, because permissions belong to a process. `--no-prompt` refuses missing permissions. */
function run(cwd: string, permissions: readonly string[], ...words: readonly string[]): Result {
  const flags = ["run", "--no-prompt", "--no-check", "--no-lock", "--cached-only"]
  return spawnSync(process.execPath, [...flags, ...permissions, SCRIPT, ...words], { cwd, encoding: "utf8" })
}

function inFolder(work: (cwd: string) => void): () => void {
  return () => {
    const cwd = mkdtempSync(join(tmpdir(), "sessions-deno-script-"))
    try {
      work(cwd)
    } finally {
      rmSync(cwd, { recursive: true, force: true })
    }
  }
}

Deno.test(
  "the script needs to read and write its folder and nothing else",
  inFolder((cwd) => {
    const first = run(cwd, [READ, WRITE], "hello")
    assert.deepEqual(first, { ...first, status: 0, stderr: "" })
    assert.match(first.stdout, /^assistant: I have read 1 messages\. The last one is: hello\n$/)
    assert.match(run(cwd, [READ, WRITE], "again").stdout, /^assistant: I have read 3 messages/)
    assert.deepEqual(readdirSync(cwd), [".sessions"])
  }),
)

Deno.test(
  "printing the conversation needs only read permission and changes nothing",
  inFolder((cwd) => {
    assert.match(run(cwd, [READ]).stdout, /^No conversation yet\.\n$/)
    assert.deepEqual(readdirSync(cwd), [])
    run(cwd, [READ, WRITE], "hello")
    const shown = run(cwd, [READ])
    assert.deepEqual(shown, { ...shown, status: 0, stderr: "" })
    assert.match(shown.stdout, /^user: hello\nassistant: I have read 1 messages/)
  }),
)

for (const [missing, rest] of [
  ["read", WRITE],
  ["write", READ],
] as const) {
  Deno.test(
    `without --allow-${missing} the error names the missing permission and the path`,
    inFolder((cwd) => {
      const { status, stderr } = run(cwd, [rest], "hello")
      assert.notEqual(status, 0)
      assert.match(stderr, new RegExp(`--allow-${missing}`))
      assert.match(stderr, /\.sessions/)
    }),
  )
}
