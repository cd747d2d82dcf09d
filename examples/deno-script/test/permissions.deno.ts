import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const SCRIPT = fileURLToPath(new URL("../main.ts", import.meta.url))
/** As the script's own text and `docs/adapters.md` have them. */
const [READ, WRITE] = ["--allow-read=.sessions", "--allow-write=.sessions"]

interface Ran {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Permissions are of the process, so it gets one of its own; what was not granted is refused, not asked for. */
function run(cwd: string, permissions: readonly string[], ...words: readonly string[]): Ran {
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
  "the script needs to read and write its folder, and nothing else",
  inFolder((cwd) => {
    const first = run(cwd, [READ, WRITE], "hello")
    assert.deepEqual(first, { ...first, status: 0, stderr: "" })
    assert.match(first.stdout, /^assistant: I have read 1 messages, the last one says: hello\n$/)
    assert.match(run(cwd, [READ, WRITE], "again").stdout, /^assistant: I have read 3 messages/)
    assert.deepEqual(readdirSync(cwd), [".sessions"])
  }),
)

Deno.test(
  "to look at what is there, reading is enough, and it changes nothing",
  inFolder((cwd) => {
    assert.match(run(cwd, [READ]).stdout, /^Nothing was said yet.\n$/)
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
    `without --allow-${missing} the script is told what it lacks, and where`,
    inFolder((cwd) => {
      const { status, stderr } = run(cwd, [rest], "hello")
      assert.notEqual(status, 0)
      assert.match(stderr, new RegExp(`--allow-${missing}`))
      assert.match(stderr, /\.sessions/)
    }),
  )
}
