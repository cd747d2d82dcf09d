/** Tests the built command in the runtime that runs the test. */
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../dist/cli/main.js", import.meta.url))
const memory = new URL("../../packages/memory/dist/index.js", import.meta.url).href

const SUBJECT = `
import { createMemoryLocation, createMemoryStorage } from ${JSON.stringify(memory)}
const broken = process.env.BROKEN
export default {
  name: "memory",
  makeLocation: createMemoryLocation,
  open(location: ReturnType<typeof createMemoryLocation>) {
    const storage = createMemoryStorage({ location })
    if (broken === "head") return { ...storage, head: async () => undefined }
    if (broken === "uncaught") setTimeout(() => { throw new Error("out of a timer") }, 0)
    return storage
  },
}
`

interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Throws if the command does not behave as its help says. `flags` are arguments of the runtime, before the command. */
export async function checkCommand(flags: readonly string[] = []): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "conformance-command-"))
  const file = join(folder, "subject.ts")
  writeFileSync(file, SUBJECT)
  const command = (args: readonly string[], broken = "nothing"): Promise<Outcome> =>
    new Promise((resolve) => {
      const env = { ...process.env, BROKEN: broken }
      execFile(process.execPath, [...flags, main, ...args], { env }, (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
      })
    })
  try {
    const sound = await command([file, "--seed", "5", "--runs", "10"])
    demand(sound.code === 0 && /\n\d+ passed, 0 failed, \d+ skipped\n$/.test(sound.stdout), "a sound storage", sound)
    demand(sound.stdout.includes("property sequential holds (seed 5)"), "its properties", sound)
    const wrong = await command([file, "--json", "--case", "HEAD-02"], "head")
    const { totals } = JSON.parse(wrong.stdout) as { totals: { failed: number } }
    demand(wrong.code === 1 && totals.failed > 0, "a broken storage", wrong)
    const uncaught = await command([file, "--group", "create", "--group", "head"], "uncaught")
    demand(
      uncaught.code === 1 && /actual +Error: out of a timer/.test(uncaught.stdout),
      "an error in a timer",
      uncaught,
    )
    demand(/\n\d+ passed, \d+ failed, 0 skipped\n$/.test(uncaught.stdout), "the run that continues after it", uncaught)
    const misused = await command([file, "--case", "HEAD-99"])
    demand(misused.code === 2 && misused.stderr.includes("head-99"), "wrong use", misused)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function demand(holds: boolean, what: string, { code, stdout, stderr }: Outcome): void {
  if (!holds) throw new Error(`${what}: exit code ${code}\n${stdout}\n${stderr}`)
}
