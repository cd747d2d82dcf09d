/** Answers of the server that come as lines of JSON. Each is parsed by itself, so that the page stays usable while a large one comes. */
import type { Row } from "../src/model/types.ts"
import type { WholeEnd, WholePart } from "../src/serve/outline.ts"

export interface Whole extends WholeEnd {
  readonly rows: ReadonlyMap<number, Row>
}

/** Rejects if the answer ends early: fewer rows would look like a shorter session. */
export async function wholeOf(response: Response): Promise<Whole> {
  const rows = new Map<number, Row>()
  let end: WholeEnd | undefined
  for await (const line of linesOf(response)) {
    const part = JSON.parse(line) as WholePart
    if ("rows" in part) for (const row of part.rows) rows.set(row.seq, row)
    else end = part
  }
  if (end === undefined) throw new Error("The server has sent a part of the session alone.")
  return { ...end, rows }
}

/** Those that end. */
export async function* linesOf({ body }: Response): AsyncGenerator<string> {
  let rest = ""
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
  for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
    const lines = (rest + part.value).split("\n")
    rest = lines.pop() ?? ""
    yield* lines
  }
}
