/** Every page of the dashboard, by an address in the sample's store. A test checks that none is missing. */
export const PAGES = [
  "/",
  "/runs",
  "/r/payments-42",
  "/r/payments-42?tab=graph",
  "/r/payments-42?tab=timeline",
  "/errors",
  "/schedules",
  "/queues",
  "/workers",
  "/cost",
  "/reliability",
  "/audit",
  "/store",
  "/settings",
  "/nothing-here",
];
