/** Files that continue another file of the same session: Cersei writes `<id>_part2.jsonl` and further parts beside `<id>.jsonl`. */
import { createReadStream, existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { cersei } from "@sessions/formats/cersei"

/** The first part of the session of a file; undefined for a file that is a whole session, or its first part. The import reads all parts. */
export async function firstPartOf(file: string): Promise<string | undefined> {
  const [, stem] = /^(.+)_part\d+\.jsonl$/.exec(basename(file)) ?? []
  if (stem === undefined) return undefined
  const first = join(dirname(file), `${stem}.jsonl`)
  return existsSync(first) && cersei.identify(await startOf(file)) && cersei.identify(await startOf(first))
    ? first
    : undefined
}

/** As much as identifies a file. */
const START_BYTES = 65_536

async function startOf(file: string): Promise<string> {
  let text = ""
  for await (const piece of createReadStream(file, { encoding: "utf8", end: START_BYTES - 1 })) text += piece as string
  return text
}
