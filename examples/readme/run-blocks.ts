/**
 * Runs code blocks one after the other in this process, each in an empty folder of its own, and prints as JSON what each has printed.
 * One process for all of them: the packages are loaded once. `indexedDB` is that of fake-indexeddb.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { format } from "node:util"

// @ts-expect-error: this entry has no types; it sets the globals.
await import("fake-indexeddb/auto")
const files = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8")) as readonly string[]
const home = process.cwd()
const results: { printed: readonly string[]; error?: string }[] = []
const { log } = console
for (const file of files) {
  const cwd = mkdtempSync(join(tmpdir(), "sessions-block-"))
  const printed: string[] = []
  console.log = (...words: readonly unknown[]) => void printed.push(...format(...words).split("\n"))
  process.chdir(cwd)
  try {
    await import(pathToFileURL(file).href)
    results.push({ printed })
  } catch (error) {
    results.push({ printed, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  } finally {
    process.chdir(home)
    rmSync(cwd, { recursive: true, force: true })
  }
}
log(JSON.stringify(results))
process.exit()
