/** Where the model is asked: kept for this tab alone, and gone with it. */
import type { EndpointSettings } from "../agent/endpoint.ts"

const NAME = "endpoint"

/** Undefined: the stand-in. */
export function loadEndpoint(): EndpointSettings | undefined {
  try {
    const text = sessionStorage.getItem(NAME)
    return text === null ? undefined : (JSON.parse(text) as EndpointSettings)
  } catch {
    return undefined
  }
}

export function saveEndpoint(endpoint: EndpointSettings | undefined): void {
  try {
    if (endpoint === undefined) sessionStorage.removeItem(NAME)
    else sessionStorage.setItem(NAME, JSON.stringify(endpoint))
  } catch {
    // A browser that keeps nothing: then it holds until the tab is reloaded.
  }
}
