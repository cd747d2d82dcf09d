/**
 * Runs code blocks one after the other in this process, each in an empty folder of its own, and prints as JSON what each has printed.
 * One process for all of them: the packages are loaded once.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { format } from "node:util"
import { IDBFactory } from "fake-indexeddb"

await import("./surroundings.ts")
const files = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as readonly string[]
const home = process.cwd()
const results: { printed: readonly string[]; error?: string }[] = []
const { log } = console
const write = process.stdout.write.bind(process.stdout)
for (const file of files) {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-block-"))
  let text = ""
  console.log = (...words: readonly unknown[]) => void (text += `${format(...words)}\n`)
  process.stdout.write = (piece: string | Uint8Array, ...rest: readonly unknown[]) => {
    text += String(piece)
    const done = rest.at(-1)
    if (typeof done === "function") done()
    return true
  }
  process.chdir(cwd)
  globalThis.indexedDB = new IDBFactory()
  const printed = () => (text === "" ? [] : text.replace(/\n$/, "").split("\n"))
  try {
    await import(pathToFileURL(file).href)
    results.push({ printed: printed() })
  } catch (error) {
    results.push({ printed: printed(), error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    process.chdir(home)
    rmSync(cwd, { recursive: true, force: true })
  }
}
process.stdout.write = write
log(JSON.stringify(results))
process.exit(0)
