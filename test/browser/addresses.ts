/** Every page of the dashboard, by an address of the sample's. A test checks that none is missing. */
export const PAGES = ["/", "/runs", "/r/payments-42", "/nothing-here"];
