"""Reads a trace and prints its slices, arrows and warnings as JSON."""

import contextlib
import json
import sys


def by_sql(path):
    """Asks the trace processor."""
    from perfetto.trace_processor import TraceProcessor

    tp = TraceProcessor(trace=path)
    slices = tp.query(
        "select p.name || '/' || t.name || ' ' || s.name || ' ' || s.dur as text from slice s"
        " join track t on s.track_id = t.id join track p on t.parent_id = p.id where s.name != 'clock'"
    )
    flows = tp.query(
        "select a.name || ' > ' || b.name as text from flow f join slice a on f.slice_out = a.id join slice b on f.slice_in = b.id"
    )
    warnings = tp.query("select name || ' ' || value as text from stats where severity in ('error', 'data_loss') and value > 0")
    rows = [sorted(row.text for row in answer) for answer in (slices, flows, warnings)]
    return dict(By="trace_processor", Slices=rows[0], Flows=rows[1], Warnings=rows[2])


def unknown(message, at=""):
    """Lists the fields of a message and those within it that Perfetto does not declare."""
    from google.protobuf import unknown_fields

    found = ["%s has field %d" % (at or "trace", f.field_number) for f in unknown_fields.UnknownFieldSet(message)]
    for field, value in message.ListFields():
        if field.message_type:
            for one in value if field.is_repeated else [value]:
                found += unknown(one, field.name)
    return found


def by_messages(path):
    """Parses the messages that Perfetto declares."""
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as proto

    trace = proto.Trace()
    with open(path, "rb") as f:
        trace.ParseFromString(f.read())
    tracks, names, open_slices, flows, slices, arrows, warnings = {}, {}, {}, {}, [], [], unknown(trace)
    event_type = proto.TrackEvent.Type
    for p in trace.packet:
        for entry in p.interned_data.event_names:
            names[entry.iid] = entry.name
        if p.HasField("track_descriptor"):
            tracks[p.track_descriptor.uuid] = p.track_descriptor
        if not p.HasField("track_event"):
            continue
        e = p.track_event
        stack = open_slices.setdefault(e.track_uuid, [])
        if e.type == event_type.TYPE_SLICE_BEGIN:
            stack.append((names[e.name_iid], p.timestamp))
            for flow in e.flow_ids:
                flows[flow] = names[e.name_iid]
        elif e.type == event_type.TYPE_SLICE_END:
            name, began = stack.pop()
            track = tracks[e.track_uuid]
            slices.append("%s/%s %s %d" % (tracks[track.parent_uuid].name, track.name, name, p.timestamp - began))
            for flow in e.terminating_flow_ids:
                arrows.append(flows.pop(flow) + " > " + name)
    warnings += ["a slice does not end" for stack in open_slices.values() for _ in stack] + ["an arrow does not end" for _ in flows]
    return dict(By="the messages of perfetto_trace.proto", Slices=sorted(slices), Flows=sorted(arrows), Warnings=warnings)


def main():
    try:
        with contextlib.redirect_stdout(sys.stderr):
            answer = by_sql(sys.argv[1])
    except Exception as e:  # it is not there
        print(e, file=sys.stderr)
        answer = by_messages(sys.argv[1])
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
