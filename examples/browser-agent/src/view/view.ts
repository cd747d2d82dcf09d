import type { State } from "../app/state.ts"

/** A part of the page: made once, then told of every change. */
export interface View {
  readonly element: HTMLElement
  update(state: State): void
}
