/** A list as rows of JSON, sent while the storage yields them. The last row says that the list is whole. */
import { NO_STORE } from "../answers.ts"
import { toErrorBody } from "../errors.ts"
import { LAST_ROW, LINES_TYPE } from "./protocol.ts"

/** Characters of rows that are sent together. */
const BATCH = 64_000

/**
 * The answer with all rows. The first row is awaited before it, so that a list that fails at once has the status of its error; a later
 * error is the last row.
 */
export async function rowsAnswer<T>(
  rows: AsyncIterable<T>,
  toJson: (row: T) => unknown,
  onError: (error: unknown) => void,
): Promise<Response> {
  const steps = rows[Symbol.asyncIterator]()
  const first = await steps.next()
  let step: IteratorResult<T> | undefined = first
  const utf8 = new TextEncoder()

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let text = ""
      try {
        while (text.length < BATCH) {
          step ??= await steps.next()
          if (step.done === true) {
            controller.enqueue(utf8.encode(`${text}${LAST_ROW}\n`))
            return controller.close()
          }
          text += `${JSON.stringify(toJson(step.value))}\n`
          step = undefined
        }
        controller.enqueue(utf8.encode(text))
      } catch (error) {
        onError(error)
        controller.enqueue(utf8.encode(`${text}${JSON.stringify(toErrorBody(error))}\n`))
        controller.close()
      }
    },
    async cancel() {
      await steps.return?.()
    },
  })
  return new Response(body, { headers: { "content-type": LINES_TYPE, ...NO_STORE } })
}
