// Carries what Python says to the desk, and the desk's reports back. Whichever of the two components comes first waits for the other.
export default function ({ data, setStateValue }) {
  const bus = (globalThis.concordDesk ??= {});
  bus.send = (report) => setStateValue("report", report);
  bus.news = data;
  bus.receive?.(data);
}
