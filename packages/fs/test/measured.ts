/** What a process needs for a job of `measured-process.ts`. */
import { execFile } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { makeRoot } from "./helpers.ts"
import { FLAGS } from "../../../.config/program.ts"

export function replayTest(parts: number, bytesPerPart: number): void {
  test(`a replay of a log, in ${parts} parts of ${bytesPerPart} bytes, never holds more than a few pieces`, async () => {
    const root = makeRoot()
    const line = JSON.stringify({ type: "message", text: "x".repeat(1_400) + "ü".repeat(250) })
    const lines = await makeLog(root, line, { parts, bytesPerPart })
    const { most, ...counts } = await measured("replay", root)
    expect(counts).toEqual({ lines, units: lines * line.length })
    expect(most).toBeLessThan(8_000_000)
  })
}

/** Gives the number of lines. */
async function makeLog(root: string, line: string, o: { parts: number; bytesPerPart: number }): Promise<number> {
  const folder = join(root, "big")
  fs.mkdirSync(folder)
  const perPart = Math.floor(o.bytesPerPart / Buffer.byteLength(`${line}\n`))
  const part = Buffer.from(`${line}\n`.repeat(perPart), "utf8")
  for (let number = 1; number <= o.parts; number++) {
    const name = number === 1 ? "session.jsonl" : `session_part${number}.${(number - 1) * perPart}.jsonl`
    await fs.promises.writeFile(join(folder, name), part)
  }
  return o.parts * perPart
}

export async function measured(job: string, root: string): Promise<Record<string, number>> {
  const program = fileURLToPath(new URL("measured-process.ts", import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [...FLAGS, program, job, root])
  return JSON.parse(stdout) as Record<string, number>
}
