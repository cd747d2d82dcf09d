/** Tells a client when a log has changed, by server-sent events. */
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { eventStream, left, type StreamedEvent } from "../event-stream.ts"
import { WATCH_EVENTS } from "./protocol.ts"

/** The first event says that changes are reported from now on: the client reads the head then. */
export function watchLog(storage: SessionStorage, session: string, enter: () => () => void): Response {
  if (storage.watch === undefined) throw new StorageError("unsupported", "This storage has no `watch`.")
  const leave = enter()
  return eventStream((signal) => left(events(storage, session, signal), leave))
}

async function* events(
  storage: SessionStorage,
  session: string,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent, void, undefined> {
  const heads = storage.watch?.(session, { signal }) ?? []
  yield { event: WATCH_EVENTS.changed, data: "null" }
  for await (const { next, log } of heads) yield { event: WATCH_EVENTS.changed, data: JSON.stringify({ next, log }) }
  // It has ended with the session or with the storage object; the client connects again in the second case.
  if (!signal.aborted && (await storage.head(session)) === undefined)
    yield { event: WATCH_EVENTS.deleted, data: "null" }
}
