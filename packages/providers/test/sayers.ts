/** Answers of any provider that are read into a session, as streams that may be cut off anywhere. */
import type { Session } from "@sessions/core"
import * as fc from "fast-check"
import { accumulateAnthropic } from "../src/anthropic/index.ts"
import { accumulateGemini } from "../src/gemini/index.ts"
import { accumulateOpenAIChat } from "../src/openai-chat/index.ts"
import { accumulateOpenAIResponses } from "../src/openai-responses/index.ts"
import { appendStream } from "../src/shared/stream.ts"
import { anthropicAnswer, chatAnswer, geminiAnswer, responsesAnswer } from "./arbitraries.ts"
import { anthropicEvents, chatChunks, geminiChunks, responsesEvents } from "./streams.ts"

/** Reads the first events of a stream into a session. */
export type Say = (session: Session, cut: number, fails: boolean) => Promise<unknown>

function sayer<E>(events: () => Iterable<E>, accumulate: () => Parameters<typeof appendStream<E>>[2]): Say {
  return async (session, cut, fails) => {
    async function* stream() {
      let count = 0
      for (const event of events()) {
        if (count++ === cut) {
          if (fails) throw new Error("overloaded")
          return
        }
        yield event
      }
    }
    await appendStream(session, stream(), accumulate(), {}).catch(() => undefined)
  }
}

export const say: fc.Arbitrary<Say> = fc.oneof(
  anthropicAnswer.map((answer) => sayer(() => anthropicEvents(answer, 5), accumulateAnthropic)),
  chatAnswer.map((answer) => sayer(() => chatChunks(answer, 5), accumulateOpenAIChat)),
  responsesAnswer.map((answer) => sayer(() => responsesEvents(answer, 5), accumulateOpenAIResponses)),
  geminiAnswer.map((answer) => sayer(() => geminiChunks(answer, 5), accumulateGemini)),
)
