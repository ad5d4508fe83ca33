"""Adapters: Longmind where a framework expects its own memory. One module and one extra for each framework.

    pip install "longmind[langgraph]"
    from longmind.adapters.langgraph import LongmindStore

They use the public face only. ADR 0028 says how a framework's names map to tenant, agent, user and session.
"""
