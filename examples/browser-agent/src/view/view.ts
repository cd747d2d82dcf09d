import type { State } from "../app/state.ts"

/** A part of the page: created once, updated after each change of the state. */
export interface View {
  readonly element: HTMLElement
  update(state: State): void
}
