/** Stores the settings of the model in `sessionStorage`, so that they end with the tab. */
import type { EndpointSettings } from "../agent/endpoint.ts"

const NAME = "endpoint"

/** Undefined selects the stand-in. */
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
    // The browser stores nothing, so the settings last until a reload.
  }
}
